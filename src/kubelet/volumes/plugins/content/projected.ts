/** projected volumes: several sources in one folder. */
import { normalize } from 'node:path/posix'
import { aggregated } from '../../../../lib/go/aggregate.ts'
import { type Pod, specOf } from '../../../pod-types.ts'
import type { PodCertificates } from '../../certificates/pod-certificates.ts'
import { credentialMode, fileOwner } from '../../content/file-owner.ts'
import { configMapFiles, secretFiles, standardMode } from '../../content/key-files.ts'
import { notFoundMessage } from '../../content/not-found.ts'
import type { Payload, PayloadFile } from '../../content/payload.ts'
import { type PodFields, podFieldFiles } from '../../content/pod-fields.ts'
import { anchorsByName, anchorsBySigner } from '../../content/trust-anchors.ts'
import type { VolumeObjects } from '../../objects/volume-objects.ts'
import type { TokenCache } from '../../tokens/token-cache.ts'
import type { Volume } from '../../volume-plugin.ts'
import type { ContentKind } from './content-volume.ts'

export interface ProjectedOptions {
  readonly objects: Pick<VolumeObjects, 'configMap' | 'secret' | 'trustBundle' | 'trustBundles'>
  readonly tokens: Pick<TokenCache, 'token'>
  readonly certificates: Pick<PodCertificates, 'bundle'>
  readonly fields: PodFields
}

type Projected = NonNullable<Volume['projected']>
type Source = NonNullable<Projected['sources']>[number]

export const projectedKind = (options: ProjectedOptions): ContentKind => ({
  name: 'kubernetes.io/projected',
  isInMemory: true,
  supports: ({ volume }) => volume?.projected !== undefined,
  async payload({ pod, spec }) {
    const { sources = [], defaultMode = standardMode } = spec.volume?.projected ?? {}
    const reader = new SourceReader(options, pod, spec.podName, defaultMode)
    const outcomes = await Promise.allSettled(sources.map((source, index) => reader.read(source, index)))
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [messageOf(outcome.reason)] : []))
    if (errors.length > 0) throw new Error(aggregated(errors))
    // A later source overrides the files of those before.
    return new Map(outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [...outcome.value] : [])))
  },
})

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

class SourceReader {
  readonly #options: ProjectedOptions
  readonly #pod: Pod
  readonly #volume: string
  readonly #defaultMode: number

  constructor(options: ProjectedOptions, pod: Pod, volume: string, defaultMode: number) {
    this.#options = options
    this.#pod = pod
    this.#volume = volume
    this.#defaultMode = defaultMode
  }

  async read(source: Source, index: number): Promise<Payload> {
    if (source.configMap) return this.#configMap(source.configMap)
    if (source.secret) return this.#secret(source.secret)
    if (source.downwardAPI)
      return podFieldFiles(this.#pod, source.downwardAPI.items ?? [], this.#defaultMode, this.#options.fields)
    if (source.serviceAccountToken) return this.#token(source.serviceAccountToken)
    if (source.clusterTrustBundle) return this.#trustAnchors(source.clusterTrustBundle)
    if (source.podCertificate) return this.#certificate(source.podCertificate, index)
    return new Map()
  }

  async #configMap({ name = '', items, optional = false }: NonNullable<Source['configMap']>): Promise<Payload> {
    const configMap = await this.#options.objects.configMap(this.#namespace, name)
    if (!configMap && !optional) throw new Error(notFoundMessage('configmap', name))
    return configMapFiles(configMap, { items, defaultMode: this.#defaultMode, isOptional: optional })
  }

  async #secret({ name = '', items, optional = false }: NonNullable<Source['secret']>): Promise<Payload> {
    const secret = await this.#options.objects.secret(this.#namespace, name)
    if (!secret && !optional) throw new Error(notFoundMessage('secret', name))
    return secretFiles(secret, { items, defaultMode: this.#defaultMode, isOptional: optional })
  }

  async #token(source: NonNullable<Source['serviceAccountToken']>): Promise<Payload> {
    const { name = '', uid = '' } = this.#pod.metadata
    const token = await this.#options.tokens.token(this.#namespace, specOf(this.#pod).serviceAccountName ?? '', {
      ...(source.audience && { audiences: [source.audience] }),
      expirationSeconds: source.expirationSeconds ?? 3600,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    })
    return new Map([[source.path, this.#credential(token)]])
  }

  async #trustAnchors(source: NonNullable<Source['clusterTrustBundle']>): Promise<Payload> {
    const { name, signerName, labelSelector, optional = false, path } = source
    const { objects } = this.#options
    if (name !== undefined)
      return new Map([[path, this.#credential(anchorsByName(await objects.trustBundle(name), name, optional))]])
    if (signerName === undefined)
      throw new Error('ClusterTrustBundle projection requires either name or signerName to be set')
    const anchors = anchorsBySigner(await objects.trustBundles(), signerName, labelSelector, optional)
    return new Map([[path, this.#credential(anchors)]])
  }

  async #certificate(source: NonNullable<Source['podCertificate']>, index: number): Promise<Payload> {
    const { key, chain } = await this.#options.certificates.bundle(this.#pod, this.#volume, index, source)
    const files = new Map<string, PayloadFile>()
    const { credentialBundlePath, keyPath, certificateChainPath } = source
    if (credentialBundlePath) files.set(normalize(credentialBundlePath), this.#credential(key + chain))
    if (keyPath) files.set(normalize(keyPath), this.#credential(key))
    if (certificateChainPath) files.set(normalize(certificateChainPath), this.#credential(chain))
    return files
  }

  #credential(text: string): PayloadFile {
    const owner = fileOwner(this.#pod)
    const mode = credentialMode(this.#pod, this.#defaultMode)
    return { data: Buffer.from(text), mode, ...(owner !== undefined && { owner }) }
  }

  get #namespace(): string {
    return this.#pod.metadata.namespace ?? ''
  }
}
