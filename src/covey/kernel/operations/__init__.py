"""Operations: what each does, who calls it, at most once, recorded."""
