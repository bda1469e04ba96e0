module example.com/bench/terraform-provider-bench

go 1.19
