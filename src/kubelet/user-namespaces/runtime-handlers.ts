/** The runtime's handlers: that of a pod, by its RuntimeClass, and the features that the runtime reports for it. */
import type { RuntimeHandler } from '#protobuf/cri-runtime_pb.js'
import { runtimeClasses } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { type Pod, specOf } from '../pod-types.ts'

export interface RuntimeHandlersOptions {
  readonly client: Pick<RestClient, 'get'>
  /** The handlers as last reported; empty if the runtime is too old to report them. */
  readonly reported: () => readonly RuntimeHandler[]
}

export class RuntimeHandlers {
  readonly #options: RuntimeHandlersOptions

  constructor(options: RuntimeHandlersOptions) {
    this.#options = options
  }

  /** Resolves with the handler of a pod; empty for the default one. Rejects if its RuntimeClass does not exist. */
  async handlerOf(pod: Pod): Promise<string> {
    const { runtimeClassName } = specOf(pod)
    return runtimeClassName ? (await this.#options.client.get(runtimeClasses, '', runtimeClassName)).handler : ''
  }

  /** Rejects with upstream's message if the handler of a pod cannot give it users of its own (KEP-127). */
  async checkUserNamespaces(pod: Pod): Promise<void> {
    const handler = await this.handlerOf(pod)
    const reported = this.#options.reported()
    const known = reported.find(({ name }) => name === handler)
    if (known?.features?.userNamespaces) return
    const subject = handler ? `RuntimeClass handler ${JSON.stringify(handler)}` : 'runtime'
    const isUnknown = !known && reported.length > 0
    throw new Error(
      `can't set \`spec.hostUsers: false\`, ${subject} does not support user namespaces` +
        (isUnknown ? `: the handler ${JSON.stringify(handler)} is not known` : ''),
    )
  }

  /** Resolves with true if mounts of a pod can be read-only with all mounts inside them (KEP-3857). */
  async canMountRecursivelyReadOnly(pod: Pod): Promise<boolean> {
    const handler = await this.handlerOf(pod)
    return this.#options
      .reported()
      .some(({ name, features }) => name === handler && features?.recursiveReadOnlyMounts === true)
  }
}
