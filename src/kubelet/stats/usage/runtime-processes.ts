/** The main processes of containers and sandboxes with their cgroups. Each is read once, since they do not change. */
import type { Container, PodSandbox } from '#protobuf/cri-runtime_pb.js'
import type { CgroupReader } from '../../../node/cgroups/cgroup-reader.ts'
import type { CriRuntime, RuntimeDetails } from '../../cri/runtime.ts'

export interface RuntimeProcess {
  readonly pid: number
  readonly cgroup: string
  readonly image: string
  /** In ms since 1970. */
  readonly startedAt: number
}

export class RuntimeProcesses {
  readonly #runtime: Pick<CriRuntime, 'containerInfo' | 'sandboxInfo'>
  readonly #cgroups: Pick<CgroupReader, 'pathOf'>
  /** Undefined for sandboxes without a process. */
  readonly #known = new Map<string, RuntimeProcess | undefined>()

  constructor(runtime: Pick<CriRuntime, 'containerInfo' | 'sandboxInfo'>, cgroups: Pick<CgroupReader, 'pathOf'>) {
    this.#runtime = runtime
    this.#cgroups = cgroups
  }

  /** Undefined if the runtime does not report its process. */
  find(id: string): RuntimeProcess | undefined {
    return this.#known.get(id)
  }

  /** Reads the processes that are new, and forgets those that have ended. */
  async update(sandboxes: readonly PodSandbox[], containers: readonly Container[]): Promise<void> {
    const current = new Set([...sandboxes, ...containers].map(({ id }) => id))
    for (const id of this.#known.keys()) if (!current.has(id)) this.#known.delete(id)
    const unknown = <T extends { readonly id: string }>(list: readonly T[]): T[] =>
      list.filter(({ id }) => !this.#known.has(id))
    await Promise.all([
      ...unknown(sandboxes).map(({ id }) => this.#read(id, this.#runtime.sandboxInfo(id))),
      ...unknown(containers).map(({ id }) => this.#read(id, this.#runtime.containerInfo(id))),
    ])
  }

  async #read(id: string, reading: Promise<RuntimeDetails>): Promise<void> {
    // It may have ended meanwhile, or the runtime reports no process.
    const answer = await reading.catch(() => undefined)
    const { pid, image } = detailsIn(answer?.info ?? {})
    const cgroup = pid > 0 ? this.#cgroups.pathOf(pid) : undefined
    if (answer && pid === 0) this.#known.set(id, undefined)
    if (answer && cgroup !== undefined)
      this.#known.set(id, { pid, cgroup, image, startedAt: Number(answer.startedAt / 1_000_000n) })
  }
}

/** The details that containerd and CRI-O put as JSON into `info`. */
function detailsIn({ info }: RuntimeDetails['info']): { readonly pid: number; readonly image: string } {
  try {
    const { pid, image } = JSON.parse(info ?? '{}') as { readonly pid?: unknown; readonly image?: unknown }
    return { pid: Number(pid) || 0, image: typeof image === 'string' ? image : '' }
  } catch {
    return { pid: 0, image: '' }
  }
}
