/** No variable of this process configures the server; how Node runs it is the same as here. */
export function inherited(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'NODE_COMPILE_CACHE', 'NODE_OPTIONS', 'GLIBC_TUNABLES']
  return Object.fromEntries(names.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])))
}
