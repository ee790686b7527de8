/** Does some work while the environment names a proxy. */
export async function withProxy<Result>(work: () => Promise<Result>): Promise<Result> {
  const before = { ...process.env }
  process.env['HTTPS_PROXY'] = 'http://proxy.example:3128'
  try {
    return await work()
  } finally {
    process.env = before
  }
}
