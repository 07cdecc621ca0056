/** Warnings about volumes: removed types, and files with overlapping paths. */
import { claimSpecWarnings } from '../../storage/claim-warnings.ts'
import type { Volume } from '../model.ts'

/** Upstream's path and message for each removed type. */
const removedTypes = {
  photonPersistentDisk: ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  gitRepo: ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  scaleIO: ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  flocker: ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  storageos: ['storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  quobyte: ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  glusterfs: ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  cephfs: ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  rbd: ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
} as const satisfies { [Type in keyof Volume]?: readonly [name: string, message: string] }
const types = Object.keys(removedTypes) as (keyof typeof removedTypes)[]

/** Returns all warnings about the volumes at `path`. */
export function volumeWarnings(volumes: readonly Volume[], path: string): string[] {
  const warnings: string[] = []
  volumes.forEach((volume, i) => {
    for (const type of types)
      if (volume[type]) warnings.push(`${path}[${i}].${removedTypes[type][0]}: ${removedTypes[type][1]}`)
    const claim = volume.ephemeral?.volumeClaimTemplate
    if (claim) warnings.push(...claimSpecWarnings(claim.spec, `${path}[${i}].ephemeral.volumeClaimTemplate.spec`))
  })
  for (const volume of volumes)
    if (volume.configMap || volume.secret || volume.downwardAPI || volume.projected) warnings.push(...overlaps(volume))
  return warnings
}

interface File {
  path?: string
}
const pathsOf = (files: readonly File[]): string[] => files.map(({ path = '' }) => path)

/** Warns of files of one volume whose paths are equal or nested. */
function overlaps({ name, configMap, secret, downwardAPI, projected }: Volume): string[] {
  const volume = `volume ${JSON.stringify(name)}`
  const warnings: string[] = []
  if (configMap?.items)
    warnings.push(
      ...collisions(pathsOf(configMap.items), `${volume} (ConfigMap ${JSON.stringify(configMap.name ?? '')})`),
    )
  if (secret?.items)
    warnings.push(...collisions(pathsOf(secret.items), `${volume} (Secret ${JSON.stringify(secret.secretName ?? '')})`))
  if (downwardAPI?.items) warnings.push(...collisions(pathsOf(downwardAPI.items), `${volume} (DownwardAPI)`))
  if (projected && !canOverlap(projected)) return warnings
  const taken = new Set<string>()
  for (const source of projected?.sources ?? []) {
    const found = sourceFiles(source)
    if (!found) {
      warnings.push(`${volume} (Projected) has no sources provided`)
      continue
    }
    const words = `${volume} (Projected ${found.what})`
    const paths = [...new Set(found.paths)]
    if (paths.length === 0) continue
    // First the paths of this source, then all so far.
    warnings.push(...collisions(found.paths, words), ...collisions([...paths, ...taken].sort(), words))
    for (const path of paths) taken.add(path)
  }
  return warnings
}

/**
 * Returns false if no paths overlap. A fast check without lists, since nearly all pods have a projected token volume.
 */
function canOverlap({ sources }: NonNullable<Volume['projected']>): boolean {
  const seen: string[] = []
  const isNew = (path: string | undefined): boolean => {
    if (path === undefined) return true
    for (const other of seen) if (other.startsWith(path) || path.startsWith(other)) return false
    seen.push(path)
    return path !== '' && !path.endsWith('/')
  }
  return !sources?.every(({ configMap, secret, downwardAPI, serviceAccountToken }) => {
    if (serviceAccountToken) return isNew(serviceAccountToken.path)
    const files = configMap ?? secret ?? downwardAPI
    return files !== undefined && (files.items?.every(({ path }) => isNew(path)) ?? true)
  })
}

type Source = NonNullable<NonNullable<Volume['projected']>['sources']>[number]

function sourceFiles(source: Source): { what: string; paths: string[] } | undefined {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle: bundle, podCertificate } = source
  if (configMap)
    return { what: `ConfigMap ${JSON.stringify(configMap.name ?? '')}`, paths: pathsOf(configMap.items ?? []) }
  if (secret) return { what: `Secret ${JSON.stringify(secret.name ?? '')}`, paths: pathsOf(secret.items ?? []) }
  if (downwardAPI) return { what: 'DownwardAPI', paths: pathsOf(downwardAPI.items ?? []) }
  if (serviceAccountToken) return { what: 'ServiceAccountToken', paths: [serviceAccountToken.path] }
  if (bundle)
    return {
      what: `ClusterTrustBundle ${JSON.stringify(bundle.name ?? bundle.signerName ?? '')}`,
      paths: [bundle.path],
    }
  if (podCertificate) {
    const { keyPath, certificateChainPath, credentialBundlePath } = podCertificate
    return {
      what: 'PodCertificate',
      paths: [credentialBundlePath, keyPath, certificateChainPath].filter((path) => path !== undefined),
    }
  }
  return undefined
}

function collisions(paths: readonly string[], words: string): string[] {
  const seen = new Set<string>()
  return paths.flatMap((given) => {
    const path = given.replace(/\/+$/, '')
    const other = collision(seen, path)
    seen.add(path)
    return other ? [`${words}: overlapping paths: ${JSON.stringify(path)} with ${JSON.stringify(other)}`] : []
  })
}

/** Compares as upstream does: a prefix of a name counts as its folder. */
function collision(seen: ReadonlySet<string>, path: string): string | undefined {
  for (const other of seen) {
    if (other === '' || path === '') return undefined
    if (`${other}/`.startsWith(path) || `${path}/`.startsWith(other)) return other
  }
  return undefined
}
