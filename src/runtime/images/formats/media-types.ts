/** Media types of images: those of OCI, and those of Docker's schema 2. */

export const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
  gzipLayer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  dockerIndex: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
} as const

const indexes: ReadonlySet<string> = new Set([mediaTypes.index, mediaTypes.dockerIndex])
const manifests: ReadonlySet<string> = new Set([mediaTypes.manifest, mediaTypes.dockerManifest])

export const isIndexType = (mediaType: string): boolean => indexes.has(mediaType)
export const isManifestType = (mediaType: string): boolean => manifests.has(mediaType)

/** The value of `Accept` for manifests, the preferred types first. */
export const acceptedManifests = [...manifests, ...indexes, '*/*'].join(', ')
