/** A repository at its registry and the mirrors of it: the first host that has something answers. */

import { messageOf } from '../../../../lib/message-of.ts'
import { parseImageName } from '../../../../node/images/image-name.ts'
import type { Digest } from '../../formats/digest.ts'
import { ImageError, invalidReference } from '../../image-error.ts'
import { type BlobResponse, type ReceivedManifest, RegistryClient } from '../registry-client.ts'
import { AuthorizedExchange } from '../transport/authorized-exchange.ts'
import { Authorizer, type RegistryLogin } from '../transport/authorizer.ts'
import type { HttpExchange } from '../transport/http-exchange.ts'
import { type RegistrySettings, registryHosts } from '../transport/registry-hosts.ts'

/** The name of an image, taken apart. */
export interface ImageSource {
  /** Such as `registry.test:5000`. */
  readonly registry: string
  /** The path at the registry. */
  readonly path: string
  /** Registry and path. */
  readonly repository: string
  /** The tag or digest to read. */
  readonly reference: string
  /** The complete name: with the digest alone if it has one. */
  readonly name: string
}

/** Throws an InvalidArgument error for a name that is not valid. */
export function imageSource(name: string): ImageSource {
  try {
    const { repository, tag, digest } = parseImageName(name)
    const slash = repository.indexOf('/')
    return {
      registry: repository.slice(0, slash),
      path: repository.slice(slash + 1),
      repository,
      reference: digest || tag,
      name: digest ? `${repository}@${digest}` : `${repository}:${tag}`,
    }
  } catch (error) {
    throw invalidReference(messageOf(error), error)
  }
}

export interface RepositorySourceOptions {
  readonly exchange: HttpExchange
  readonly settings: RegistrySettings
  readonly login: RegistryLogin | undefined
  readonly signal?: AbortSignal
}

export class RepositorySource {
  readonly #clients: readonly RegistryClient[]
  readonly #name: string
  readonly #signal: AbortSignal | undefined

  constructor({ registry, path, name }: ImageSource, { exchange, settings, login, signal }: RepositorySourceOptions) {
    this.#name = name
    this.#signal = signal
    this.#clients = registryHosts(registry, settings).map((host) => {
      // A mirror must not see the login of the registry.
      const authorizer = new Authorizer({ exchange, login: host.isMirror ? undefined : login, now: () => Date.now() })
      return new RegistryClient(new AuthorizedExchange(exchange, authorizer), { host, registry, path })
    })
  }

  manifest(reference: string): Promise<ReceivedManifest> {
    return this.#first((client) => client.manifest(reference, this.#name, this.#signal))
  }

  blob(digest: Digest, offset: number, signal = this.#signal): Promise<BlobResponse> {
    return this.#first((client) => client.blob(digest, offset, signal))
  }

  /** The failure of a mirror is no failure; that of the registry itself is. */
  async #first<Result>(read: (client: RegistryClient) => Promise<Result>): Promise<Result> {
    const last = this.#clients.length - 1
    for (const client of this.#clients.slice(0, last))
      try {
        return await read(client)
      } catch (error) {
        if (!(error instanceof ImageError) || error.code === 'Canceled') throw error
      }
    return read(this.#clients[last]!)
  }
}
