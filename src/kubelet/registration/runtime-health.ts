/** The health of the container runtime: the reasons why the node is not ready. */
import type { RuntimeCondition, RuntimeHandler } from '#protobuf/cri-runtime_pb.js'
import type { CriRuntime } from '../cri/runtime.ts'
import type { RuntimeFacts } from './node-object.ts'

export interface RuntimeHealthOptions {
  readonly runtime: Pick<CriRuntime, 'status'>
  /** `containerd://1.6.20`. */
  readonly version: string
}

export class RuntimeHealth {
  readonly #options: RuntimeHealthOptions
  #problem: string | undefined
  #networkProblem: string | undefined
  #handlers: readonly RuntimeHandler[] = []

  constructor(options: RuntimeHealthOptions) {
    this.#options = options
  }

  /** The reason why pods cannot have a network; undefined if they can. */
  get networkProblem(): string | undefined {
    return this.#networkProblem
  }

  /** All reasons why the node is not ready, in upstream's words. */
  get problems(): readonly string[] {
    return [this.#problem, this.#networkProblem].filter((problem) => problem !== undefined)
  }

  /** The handlers that the runtime reports; empty if it is too old to do that. */
  get handlers(): readonly RuntimeHandler[] {
    return this.#handlers
  }

  /** Asks the runtime. Never rejects: a runtime that does not answer is a problem. */
  async check(): Promise<Omit<RuntimeFacts, 'images'>> {
    const { runtime, version } = this.#options
    try {
      const { status, runtimeHandlers, features } = await runtime.status()
      const find = (type: string) => status?.conditions.find((one) => one.type === type)
      this.#problem = problemOf('container runtime', find('RuntimeReady'))
      this.#networkProblem = problemOf('container runtime network', find('NetworkReady'))
      this.#handlers = runtimeHandlers
      return { version, handlers: runtimeHandlers, hasGroupsPolicy: features?.supplementalGroupsPolicy === true }
    } catch (error) {
      this.#problem = `container runtime status check may not have completed yet: ${(error as Error).message}`
      return { version, handlers: [], hasGroupsPolicy: false }
    }
  }
}

function problemOf(what: string, condition: RuntimeCondition | undefined): string | undefined {
  if (!condition) return `${what} not ready: condition is missing`
  if (condition.status) return undefined
  const { type, reason, message } = condition
  return `${what} not ready: ${type}=false reason:${reason} message:${message}`
}
