/** All credentials for the image of a pod: of its pull secrets, then of the node, then of credential providers. */
import type { Secret } from '../../../client/kinds.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { parseImageName } from '../../../node/images/image-name.ts'
import type { PodEvents } from '../../containers/container-events.ts'
import { type Pod, podName, specOf } from '../../pod-types.ts'
import { type Credential, lookUpCredentials, secretCredentials } from './keyring.ts'
import type { NodeConfig } from './node-config.ts'
import type { CredentialProvider } from './provider-plugin.ts'

export interface ImageCredentialsOptions {
  readonly node: Pick<NodeConfig, 'get'>
  readonly providers: readonly Pick<CredentialProvider, 'provide'>[]
  readonly events: PodEvents
  readonly log: (line: string) => void
  /** Resolves with undefined for a missing secret. */
  secret(namespace: string, name: string): Promise<Secret | undefined>
}

const consequence = 'attempting to pull the image may not succeed.'

export class ImageCredentials {
  readonly #options: ImageCredentialsOptions

  constructor(options: ImageCredentialsOptions) {
    this.#options = options
  }

  /** Rejects with an Error if a secret of the pod is not a valid Docker config. Missing secrets are an event only. */
  async lookUp(pod: Pod, image: string): Promise<Credential[]> {
    const { node, providers } = this.#options
    const { repository } = parseImageName(image)
    const ofSecrets = (await this.#secrets(pod)).flatMap((secret) => secretCredentials(secret, repository))
    const ofProviders = await Promise.all(providers.map((provider) => provider.provide(repository)))
    return [...ofSecrets, ...[node.get(), ...ofProviders].flatMap((config) => lookUpCredentials(config, repository))]
  }

  async #secrets(pod: Pod): Promise<Secret[]> {
    const { secret, events, log } = this.#options
    const found: Secret[] = []
    const missing: string[] = []
    for (const { name } of specOf(pod).imagePullSecrets ?? []) {
      if (!name) continue
      try {
        const one = await secret(pod.metadata.namespace ?? '', name)
        if (one) found.push(one)
        else missing.push(name)
      } catch (error) {
        log(`cannot read the image pull secret ${name} of the pod ${podName(pod)}: ${messageOf(error)}`)
        missing.push(name)
      }
    }
    if (missing.length > 0) {
      const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); ${consequence}`
      events.ofPod(pod, 'Warning', 'FailedToRetrieveImagePullSecret', message)
    }
    return found
  }
}
