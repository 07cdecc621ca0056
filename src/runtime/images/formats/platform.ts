/** Platforms: the machine's own, and the best manifest of an index for one. */
import { ImageError } from '../image-error.ts'
import type { Descriptor, ImageIndex, Platform } from './manifest.ts'
import { isIndexType, isManifestType } from './media-types.ts'

/** Names of Go's architectures by Node's, where they differ. */
const architectures: Readonly<Record<string, string>> = {
  x64: 'amd64',
  ia32: '386',
  ppc64: 'ppc64le',
  mipsel: 'mipsle',
}

/** The platform of images that this machine runs: always Linux, as containers are. */
export function hostPlatform(arch: string = process.arch): Platform {
  const variables = process.config.variables as { readonly arm_version?: string }
  if (arch === 'arm') return { os: 'linux', architecture: 'arm', variant: `v${variables.arm_version ?? '7'}` }
  return { os: 'linux', architecture: architectures[arch] ?? arch }
}

/** Parses `linux/arm64`, `linux/arm/v7` or `arm64`. Throws an ImageError for other texts. */
export function parsePlatform(text: string): Platform {
  const parts = text.split('/')
  const [os = '', architecture = '', variant] = parts.length === 1 ? ['linux', ...parts] : parts
  if (
    parts.length > 3 ||
    [os, architecture, variant].some((part) => part !== undefined && !/^[a-z0-9_.-]+$/.test(part))
  )
    throw new ImageError(
      'InvalidArgument',
      `${JSON.stringify(text)} is not a platform such as linux/arm64 or linux/arm/v7`,
    )
  return { os, architecture: normalized(architecture), ...(variant && { variant }) }
}

const aliases: Readonly<Record<string, string>> = { x86_64: 'amd64', 'x86-64': 'amd64', aarch64: 'arm64', i386: '386' }

const normalized = (architecture: string): string => aliases[architecture] ?? architecture

/**
 * Returns the manifest of an index for a platform: of the same variant, else the highest one that the platform can run.
 * An index may contain attestations, which have the platform `unknown`. Throws a NotFound error if there is none.
 */
export function chooseManifest(index: ImageIndex, platform: Platform): Descriptor {
  const candidates = index.manifests
    .filter(({ mediaType }) => isManifestType(mediaType) || isIndexType(mediaType))
    .map((descriptor) => ({ descriptor, rank: rankOf(descriptor.platform, platform) }))
    .filter(({ rank }) => rank >= 0)
    .sort((a, b) => b.rank - a.rank)
  const [best] = candidates
  if (!best)
    throw new ImageError('NotFound', `no match for platform in manifest: ${formatPlatform(platform)} not found`)
  return best.descriptor
}

export const formatPlatform = ({ os, architecture, variant }: Platform): string =>
  [os, architecture, ...(variant ? [variant] : [])].join('/')

/** A higher number is a better match; negative if the platform cannot run it. */
function rankOf(offered: Platform | undefined, wanted: Platform): number {
  // A manifest without a platform is for every platform, but a stated one is better.
  if (!offered || offered.os === '') return 0
  if (offered.os !== wanted.os || normalized(offered.architecture) !== wanted.architecture) return -1
  const level = levelOf(offered)
  const highest = levelOf(wanted)
  return level > highest ? -1 : 1 + level
}

/** The number of the variant: later ones run programs of earlier ones. */
function levelOf({ architecture, variant }: Platform): number {
  const [, level] = /^v(\d+)/.exec(variant ?? '') ?? []
  if (level !== undefined) return Number(level)
  return { arm: 7, arm64: 8, amd64: 1 }[normalized(architecture)] ?? 0
}
