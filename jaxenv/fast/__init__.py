"""Operations that compile to fast programs on every platform, with the same bits."""
