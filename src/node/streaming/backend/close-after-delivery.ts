/** Closes the client's connection after a server has closed its own. */
import type { Duplex } from 'node:stream'

/** How long a client may take to close a connection that has ended, in ms. */
const lingerMs = 10_000

/**
 * Ends a connection after everything that was written to it. To destroy it would discard what the client has not taken
 * yet, such as the exit status of a command: kubectl takes its absence for success.
 */
export function closeAfterDelivery(client: Duplex): void {
  if (client.destroyed) return
  // Data that nobody reads would reset the connection.
  client.resume()
  client.end(() => {
    const late = setTimeout(() => client.destroy(), lingerMs).unref()
    client.once('close', () => clearTimeout(late))
  })
}
