"""dcplan: plan AI data centers."""
