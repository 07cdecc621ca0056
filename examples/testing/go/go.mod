module example.com/cluster-tests

go 1.19
