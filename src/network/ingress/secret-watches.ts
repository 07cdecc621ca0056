/** Watches single Secrets: only those that an Ingress or a Gateway names, so that no other Secret is read. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { Informer } from '../../client/informers/informer.ts'
import { type Secret, secrets } from '../../client/kinds.ts'
import { nameSelector } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KeyPair } from '../../lib/x509/key-pair.ts'

interface Watched {
  readonly informer: Informer<Secret>
  readonly stopping: AbortController
  readonly ended: Promise<void>
}

/** A certificate, or why a Secret has none: a sentence. */
export type SecretCertificate = { readonly pair: KeyPair } | { readonly fault: string }

export class SecretWatches {
  readonly #client: RestClient
  readonly #changed: (key: string) => void
  readonly #log: (line: string) => void
  readonly #watched = new Map<string, Watched>()

  /** `changed` is called with `NAMESPACE/NAME` after each change of a watched Secret, and when it was read first. */
  constructor(client: RestClient, changed: (key: string) => void, log: (line: string) => void) {
    this.#client = client
    this.#changed = changed
    this.#log = log
  }

  /** Watches these Secrets, `NAMESPACE/NAME`, and no others. */
  watch(keys: ReadonlySet<string>): void {
    for (const [key, { stopping }] of this.#watched)
      if (!keys.has(key)) {
        stopping.abort()
        this.#watched.delete(key)
      }
    for (const key of keys) if (!this.#watched.has(key)) this.#watched.set(key, this.#start(key))
  }

  /** Returns the certificate of a watched Secret; undefined while it has not been read. */
  certificate(namespace: string, name: string): SecretCertificate | undefined {
    const watched = this.#watched.get(`${namespace}/${name}`)
    if (!watched?.informer.hasSynced) return undefined
    const secret = watched.informer.get(namespace, name)
    return secret ? certificateOf(secret) : { fault: `Secret ${namespace}/${name} does not exist: create it` }
  }

  async stop(): Promise<void> {
    const watched = [...this.#watched.values()]
    this.watch(new Set())
    await Promise.all(watched.map(({ ended }) => ended))
  }

  #start(key: string): Watched {
    const [namespace = '', name = ''] = key.split('/')
    const informer = new Informer<Secret>({
      client: this.#client,
      resource: secrets,
      namespace,
      fieldSelector: nameSelector(name),
      log: this.#log,
    })
    informer.onChange(() => this.#changed(key))
    const stopping = new AbortController()
    return { informer, stopping, ended: informer.run(stopping.signal, () => this.#changed(key)) }
  }
}

/** Reads the certificate and the key of a Secret, and checks that they belong together. */
function certificateOf({ metadata, data }: Secret): SecretCertificate {
  const name = `Secret ${metadata.namespace}/${metadata.name}`
  const [cert, key] = ['tls.crt', 'tls.key'].map((entry) => Buffer.from(data?.[entry] ?? '', 'base64').toString())
  if (!cert || !key) return { fault: `${name} has no tls.crt or no tls.key: create it with kubectl create secret tls` }
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { pair: { cert, key } }
    return { fault: `the key in ${name} does not belong to its certificate: replace one of them` }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { fault: `${name} has no certificate and key in PEM form (${reason}): replace them` }
  }
}
