"""The Excel workbook of a comparison of owning and renting: every figure follows its inputs."""
