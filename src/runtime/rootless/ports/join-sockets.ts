/** Copies between two connections in both directions. */
import type { Socket } from 'node:net'

/** Each end closes the other's direction; an error closes both. The sockets must allow half-open connections. */
export function joinSockets(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.once('error', () => to.destroy())
    from.once('close', () => to.destroySoon())
    from.pipe(to)
  }
}
