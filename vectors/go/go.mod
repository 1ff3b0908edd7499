module example.com/ticdc-vectors

go 1.21
