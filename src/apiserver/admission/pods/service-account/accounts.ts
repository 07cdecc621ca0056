/** A cache of service accounts. Waits for the default account of a new namespace, which a controller creates. */
import type { V1ServiceAccount } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'
import { Informer } from '../../../registry/informer.ts'
import type { PluginSources } from '../../plugin.ts'
import type { AllowedSecrets } from './secret-references.ts'

export interface Account {
  readonly automount?: boolean
  readonly pullSecrets: readonly string[]
  /** Set only if the account limits its secrets. */
  readonly allowed?: AllowedSecrets
}

/** The account that every namespace gets soon after its creation. */
export const defaultAccount = 'default'
/** Upstream's maximum wait, in ms. */
const waitMs = 1800
const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets'
/** The true values of Go's ParseBool. */
const truths: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])

export class Accounts {
  readonly #sources: PluginSources
  readonly #informer: Informer<Account>
  /** By namespace: callbacks that wait for its default account. */
  readonly #waiting = new Map<string, Set<(account: Account | undefined) => void>>()

  constructor(sources: PluginSources) {
    this.#sources = sources
    this.#informer = new Informer<Account>({
      registry: sources.registry,
      resource: sources.find('v1/serviceaccounts'),
      read: (object) => accountOf(object.parse<Model<V1ServiceAccount>>()),
      changed: (account, _before, { namespace, name }) => {
        if (account && name === defaultAccount) for (const done of this.#waiting.get(namespace) ?? []) done(account)
      },
      log: sources.log,
    })
  }

  start(): Promise<void> {
    return this.#informer.start()
  }

  stop(): void {
    this.#informer.stop()
    for (const waiting of [...this.#waiting.values()]) for (const done of [...waiting]) done(undefined)
  }

  /** Returns undefined for a missing account. Waits for a missing default account first. */
  get(namespace: string, name: string): Account | Promise<Account | undefined> {
    return this.#informer.get(namespace, name) ?? this.#find(namespace, name)
  }

  async #find(namespace: string, name: string): Promise<Account | undefined> {
    const { registry, find } = this.#sources
    const accounts = find('v1/serviceaccounts')
    const found = await registry.lookUp(accounts, accounts.key(namespace, name))
    if (found) return accountOf(found.parse<Model<V1ServiceAccount>>())
    if (name !== defaultAccount) return undefined
    return this.#informer.get(namespace, name) ?? this.#waitForDefaultAccount(namespace)
  }

  #waitForDefaultAccount(namespace: string): Promise<Account | undefined> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(namespace) ?? new Set()
      this.#waiting.set(namespace, waiting)
      const done = (account: Account | undefined): void => {
        clearTimeout(deadline)
        waiting.delete(done)
        if (waiting.size === 0) this.#waiting.delete(namespace)
        resolve(account)
      }
      const deadline = setTimeout(done, waitMs, undefined)
      waiting.add(done)
    })
  }
}

function accountOf({
  metadata,
  automountServiceAccountToken,
  secrets = [],
  imagePullSecrets = [],
}: Model<V1ServiceAccount>): Account {
  const pullSecrets = imagePullSecrets.map(({ name }) => name ?? '')
  if (!truths.has(metadata.annotations?.[enforceAnnotation] ?? ''))
    return { automount: automountServiceAccountToken, pullSecrets }
  const allowed = { account: metadata.name ?? '', secrets: secrets.map(({ name }) => name ?? ''), pullSecrets }
  return { automount: automountServiceAccountToken, pullSecrets, allowed }
}
