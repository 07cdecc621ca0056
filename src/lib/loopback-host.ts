/** True for `localhost` and loopback addresses, with or without a port: `127.0.0.1:5000`, `[::1]`. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^(\[.*\]|[^:]*):\d+$/, '$1').replace(/^\[(.*)\]$/, '$1')
  return name === 'localhost' || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name)
}
