"""Files: shared in sealed chunks, with what is needed to read them in a document."""
