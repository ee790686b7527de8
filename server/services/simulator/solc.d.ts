// The compiler ships no types. `compile` takes and gives JSON: https://docs.soliditylang.org/en/latest/using-the-compiler.html
declare module 'solc' {
  const solc: { compile(input: string): string }
  export default solc
}
