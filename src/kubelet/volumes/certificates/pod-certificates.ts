/**
 * Certificates of pods (KEP-4317): the kubelet makes a key, requests a certificate for it, and renews it in time. Keys
 * are only in memory and in the pod's volume, so after a restart new certificates are requested.
 */
import type { PodCertificateRequest } from '../../../client/kinds.ts'
import type { PodEvent } from '../../../node/pods/pod-types.ts'
import { type Pod, specOf } from '../../pod-types.ts'
import { cleanChain } from '../content/trust-anchors.ts'
import { newKey } from './signing-request.ts'

/** The parts of a projected `podCertificate` that the request needs. */
export interface CertificateSource {
  readonly signerName: string
  readonly keyType: string
  readonly maxExpirationSeconds?: number
  readonly userAnnotations?: Record<string, string>
}

export interface PodCertificatesOptions {
  /** Resolves with undefined for a missing service account. */
  serviceAccountUid(namespace: string, name: string): Promise<string | undefined>
  create(request: PodCertificateRequest): Promise<PodCertificateRequest>
  find(namespace: string, name: string): Promise<PodCertificateRequest | undefined>
  readonly node: () => { readonly name: string; readonly uid: string }
  record(pod: Pod, event: PodEvent): void
  /** Wall time in ms since 1970. */
  readonly now: () => number
  /** Between 0 and 1: spreads the renewals of many pods. */
  readonly random: () => number
  readonly log: (line: string) => void
}

/** A private key and the chain of its certificate, as PEM. */
export interface Credential {
  readonly key: string
  readonly chain: string
}

interface IssuedCredential extends Credential {
  readonly refreshMs: number
  readonly expiresMs: number
}

interface PendingRequest {
  readonly name: string
  readonly key: string
  /** The time at which a request that is not found counts as deleted. */
  readonly abandonMs: number
}

/** One source of a volume: at first it has neither; while it is renewed it has both. */
interface CertificateState {
  readonly uid: string
  issued?: IssuedCredential
  pending?: PendingRequest
  /** The message of a final refusal. */
  refusal?: string
  isOverdueRecorded?: boolean
  isExpiryRecorded?: boolean
}

const abandonAfterMs = 600_000
const overdueAfterMs = 600_000
const maxJitterMs = 300_000

const notIssued = 'credential bundle is not issued yet'

export class PodCertificates {
  readonly #options: PodCertificatesOptions
  readonly #states = new Map<string, CertificateState>()

  constructor(options: PodCertificatesOptions) {
    this.#options = options
  }

  /**
   * The credential of a source of a volume. Each call takes the next step: requests a certificate, reads the
   * request, or renews a certificate. Rejects while there is none, and after a refusal.
   */
  async bundle(pod: Pod, volume: string, index: number, source: CertificateSource): Promise<Credential> {
    const uid = pod.metadata.uid ?? ''
    const key = `${uid}/${volume}/${index}`
    const state = this.#states.get(key) ?? { uid }
    this.#states.set(key, state)
    try {
      await this.#advance(state, pod, source)
    } catch (error) {
      this.#options.log(`cannot get the certificate of volume ${key}: ${(error as Error).message}`)
    }
    if (state.refusal !== undefined) throw new Error(state.refusal)
    if (!state.issued) throw new Error(notIssued)
    return state.issued
  }

  /** Removes the keys of a pod that has ended. */
  forget(uid: string): void {
    for (const [key, state] of this.#states) if (state.uid === uid) this.#states.delete(key)
  }

  async #advance(state: CertificateState, pod: Pod, source: CertificateSource): Promise<void> {
    if (state.refusal !== undefined) return
    if (state.issued) this.#recordAge(state, state.issued, pod)
    if (state.pending) await this.#check(state, state.pending, pod)
    else if (!state.issued || this.#options.now() >= state.issued.refreshMs)
      state.pending = await this.#request(pod, source)
  }

  async #request(pod: Pod, source: CertificateSource): Promise<PendingRequest> {
    const { namespace = '', name = '', uid = '' } = pod.metadata
    const { serviceAccountName = '' } = specOf(pod)
    const serviceAccountUID = await this.#options.serviceAccountUid(namespace, serviceAccountName)
    if (serviceAccountUID === undefined)
      throw new Error(`serviceaccounts ${JSON.stringify(serviceAccountName)} not found`)
    const node = this.#options.node()
    const { key, request } = await newKey(source.keyType)
    const created = await this.#options.create({
      apiVersion: 'certificates.k8s.io/v1beta1',
      kind: 'PodCertificateRequest',
      metadata: { namespace, generateName: 'req-', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }] },
      spec: {
        signerName: source.signerName,
        podName: name,
        podUID: uid,
        serviceAccountName,
        serviceAccountUID,
        nodeName: node.name,
        nodeUID: node.uid,
        maxExpirationSeconds: source.maxExpirationSeconds,
        stubPKCS10Request: request.toString('base64'),
        unverifiedUserAnnotations: source.userAnnotations,
      },
    })
    return {
      name: created.metadata.name ?? '',
      key,
      abandonMs: this.#options.now() + abandonAfterMs + this.#jitterMs(),
    }
  }

  async #check(state: CertificateState, pending: PendingRequest, pod: Pod): Promise<void> {
    const { namespace = '' } = pod.metadata
    const request = await this.#options.find(namespace, pending.name)
    const shown = `${namespace}/${pending.name}`
    if (!request) {
      if (this.#options.now() > pending.abandonMs) {
        state.pending = undefined
        throw new Error(`PodCertificateRequest ${JSON.stringify(shown)} appears to have been deleted`)
      }
      return
    }
    for (const { type, reason = '', message = '' } of request.status?.conditions ?? []) {
      if (type === 'Issued') return this.#issue(state, pending, request)
      if (type !== 'Denied' && type !== 'Failed') continue
      const cause = `reason=${JSON.stringify(reason)}`
      const details = `message=${JSON.stringify(message)}`
      const verb = type === 'Denied' ? 'was denied' : 'failed'
      state.pending = undefined
      state.refusal = `PodCertificateRequest was permanently ${type.toLowerCase()}: ${cause} ${details}`
      const text = `PodCertificateRequest ${shown} ${verb}, ${cause}, ${details}`
      this.#options.record(pod, { type: 'Warning', reason: type, message: text })
      return
    }
  }

  #issue(state: CertificateState, { key }: PendingRequest, { status = {} }: PodCertificateRequest): void {
    const { certificateChain = '', beginRefreshAt = '', notAfter = '' } = status
    state.issued = {
      key,
      chain: cleanChain(certificateChain),
      refreshMs: Date.parse(beginRefreshAt) + this.#jitterMs(),
      expiresMs: Date.parse(notAfter),
    }
    state.pending = undefined
    state.isOverdueRecorded = false
    state.isExpiryRecorded = false
  }

  /** Records once that a certificate should have been renewed, and once that it has expired. */
  #recordAge(state: CertificateState, { refreshMs, expiresMs }: IssuedCredential, pod: Pod): void {
    const now = this.#options.now()
    if (now > refreshMs + overdueAfterMs && !state.isOverdueRecorded) {
      state.isOverdueRecorded = true
      const message = 'PodCertificate refresh overdue'
      this.#options.record(pod, { type: 'Warning', reason: 'CertificateOverdueForRefresh', message })
    }
    if (now > expiresMs && !state.isExpiryRecorded) {
      state.isExpiryRecorded = true
      this.#options.record(pod, { type: 'Warning', reason: 'CertificateExpired', message: 'PodCertificate expired' })
    }
  }

  #jitterMs(): number {
    return this.#options.random() * maxJitterMs
  }
}
