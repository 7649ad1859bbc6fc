fn main() -> std::process::ExitCode {
    uptake::cli::main()
}
