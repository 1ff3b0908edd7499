module testee

go 1.21
