/** Makes sure that one process runs a node: by a socket that ends with the process. */
import { createServer, type Server } from 'node:net'
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { NodeFolder } from './node-folder.ts'

/** Returns the end of the lock. Rejects with an ExplainedError if another process has it. */
export async function lockNode({ instance, path }: Pick<NodeFolder, 'instance' | 'path'>): Promise<() => void> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>()
  const server = createServer()
  server.once('error', reject)
  // Abstract, so it is no file that could remain.
  server.listen(`\0t8s-node-${instance}`, () => resolve(server))
  try {
    const lock = await promise
    return () => void lock.close()
  } catch (error) {
    throw new ExplainedError(`the node in ${path} runs already: stop its t8s join with Ctrl-C or SIGTERM first`, {
      cause: error,
    })
  }
}
