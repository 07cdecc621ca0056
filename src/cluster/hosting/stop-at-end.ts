/** Clusters that still run at the end of the program: they are stopped, and the program is warned. */

export interface Forgettable {
  readonly url: string
  stop(): Promise<void>
}

const running = new Set<Forgettable>()
let isListening = false

/** Registers a cluster, until it is released. */
export function stopAtEnd(cluster: Forgettable): { release(): void } {
  running.add(cluster)
  if (!isListening) {
    isListening = true
    // Not after process.exit, with which a program says that it does not wait.
    process.on('beforeExit', stopForgotten)
  }
  return { release: () => void running.delete(cluster) }
}

function stopForgotten(): void {
  const forgotten = [...running]
  running.clear()
  for (const { url } of forgotten)
    process.emitWarning(
      `the cluster at ${url} was not stopped before the end of the program: call its stop(), or declare it with ` +
        '`await using`',
      { code: 'T8S_CLUSTER_NOT_STOPPED' },
    )
  for (const cluster of forgotten) void cluster.stop()
}
