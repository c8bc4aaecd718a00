"""Services of models without decode: images, embedding, reranking, vision encoders."""
