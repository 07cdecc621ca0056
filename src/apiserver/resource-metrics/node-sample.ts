/** The usage of a node and its pods at one time, read from the Summary API's document (stats/v1alpha1). */

/** The usage of a node or a container. */
export interface Reading {
  /** In ms. */
  readonly time: number
  /** In nanocores: the kubelet's own rate. */
  readonly cpuNano: number
  /** The working set. */
  readonly memoryBytes: number
  /** Undefined if the kubelet reports none. */
  readonly swapBytes: number | undefined
}

export interface NodeSample {
  /** Undefined if the kubelet has not measured a rate yet. */
  readonly node: Reading | undefined
  /** Readings by container, by `namespace/name`. Containers without a rate are omitted. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Reading>>
}

interface Stats {
  readonly cpu?: { readonly time?: string; readonly usageNanoCores?: number }
  readonly memory?: { readonly workingSetBytes?: number }
  readonly swap?: { readonly swapUsageBytes?: number }
}

interface PodStats {
  readonly podRef: { readonly namespace: string; readonly name: string }
  readonly containers?: readonly (Stats & { readonly name: string })[] | null
}

interface Summary {
  readonly node?: Stats
  readonly pods?: readonly PodStats[] | null
}

/** Parses the document. Throws an Error if it is no JSON. */
export function parseSample(text: string): NodeSample {
  const { node, pods } = JSON.parse(text) as Summary
  return {
    node: readingOf(node ?? {}),
    // By name, since the kubelet's uid of a static pod is not that of its mirror pod.
    pods: new Map(
      (pods ?? []).map(({ podRef: { namespace, name }, containers }) => [
        `${namespace}/${name}`,
        new Map(
          (containers ?? []).flatMap((container) => {
            const reading = readingOf(container)
            return reading ? [[container.name, reading] as const] : []
          }),
        ),
      ]),
    ),
  }
}

function readingOf({ cpu, memory, swap }: Stats): Reading | undefined {
  const { time, usageNanoCores } = cpu ?? {}
  const { workingSetBytes } = memory ?? {}
  if (!time || usageNanoCores === undefined || workingSetBytes === undefined) return undefined
  return {
    time: Date.parse(time),
    cpuNano: usageNanoCores,
    memoryBytes: workingSetBytes,
    swapBytes: swap?.swapUsageBytes,
  }
}
