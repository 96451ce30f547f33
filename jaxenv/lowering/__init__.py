"""Operations lowered to fast programs, a way for each platform chosen here, with the same bits everywhere."""
