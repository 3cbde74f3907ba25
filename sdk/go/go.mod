module covey.example/sdk

go 1.23
