/** Commands that run containers, for users without root: in user namespaces. */
import { listenError } from '../../cluster/listen-error.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { Log } from '../../lib/log/log.ts'
import { socketFolder } from '../../lib/rootless/socket-folder.ts'

/**
 * Runs this command in user namespaces, and sets the exit code. Resolves with false for root and in such namespaces,
 * where the command has to run itself. `log` gets a sentence about what is weaker.
 */
export async function runsInNamespaces(log: Log): Promise<boolean> {
  if (process.platform !== 'linux' || process.geteuid?.() === 0) {
    if (socketFolder() !== undefined) (await import('../../runtime/rootless/inside.ts')).startInside()
    return false
  }
  const { runInNamespaces } = await import('../../runtime/rootless/run-in-namespaces.ts')
  process.exitCode = await runInNamespaces(log)
  return true
}

/** Addresses that a server in the namespaces can have: the process outside listens on them. */
const reachable: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '0.0.0.0', '::'])

/**
 * The same for a cluster that can do without a real node: resolves with false, too, if the machine lacks what pods of
 * users need, or the server could not have its address.
 */
export async function clusterRunsInNamespaces(address: string, log: Log): Promise<boolean> {
  if (process.platform === 'linux' && process.geteuid?.() !== 0) {
    const [{ embeddedObstacle, thisMachine }, { dataFolders }] = await Promise.all([
      import('../../cluster/real-node/checks/obstacles.ts'),
      import('../../runtime/rootless/user-folders.ts'),
    ])
    const { data, runtime } = dataFolders()
    if (!reachable.has(address) || embeddedObstacle(thisMachine(), { state: runtime, imageRoot: data })) return false
  }
  try {
    return await runsInNamespaces(log)
  } catch (error) {
    log(`no user namespaces for pods: ${reasonOf(error)}`)
    return false
  }
}

/** The same for a command that also works, with fewer rights, where the kernel does not allow user namespaces. */
export async function runsAsOwnRoot(): Promise<boolean> {
  try {
    return await runsInNamespaces(() => {})
  } catch (error) {
    if (error instanceof ExplainedError) return false
    throw error
  }
}

/**
 * Takes a port of the machine for a server that will listen on the same one in the namespaces. Resolves with the port,
 * or with the given one if this process has the machine's network. `flag` sets the port.
 */
export async function publishedPort(host: string, port: number, flag = '--secure-port'): Promise<number> {
  const folder = socketFolder()
  if (folder === undefined) return port
  const { publishPort } = await import('../../runtime/rootless/ports/publish-port.ts')
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  try {
    const published = await publishPort(folder, { host, port, target: { host: local, port: 0 } })
    return published.port
  } catch (error) {
    throw listenError(error, host, port, flag)
  }
}
