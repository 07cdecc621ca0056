/** The servers in a file such as /etc/resolv.conf. */
import { parseServer, type ServerAddress } from './upstream-server.ts'

/** The servers in their order, at most three as resolv.conf(5) has; lines that are none are ignored. */
export function serversOf(text: string): ServerAddress[] {
  const found = text.split('\n').flatMap((line) => {
    const [, address = ''] = /^nameserver\s+(\S+)/.exec(line) ?? []
    return parseServer(address) ?? []
  })
  return found.slice(0, 3)
}
