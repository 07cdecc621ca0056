/** The response of `/version`. */
import { kubernetesMinor, kubernetesVersion } from '../../lib/release.ts'

export interface VersionInfo {
  readonly major: string
  readonly minor: string
  /** The release whose API is served, and the oldest compatible one (KEP-4330). */
  readonly emulationMajor: string
  readonly emulationMinor: string
  readonly minCompatibilityMajor: string
  readonly minCompatibilityMinor: string
  readonly gitVersion: string
  readonly gitCommit: string
  readonly gitTreeState: string
  readonly buildDate: string
  readonly goVersion: string
  readonly compiler: string
  readonly platform: string
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', ia32: '386', arm: 'arm' }

/** `goVersion` is the version of Node. */
export const versionInfo = (release: string): VersionInfo => ({
  major: '1',
  minor: String(kubernetesMinor),
  emulationMajor: '1',
  emulationMinor: String(kubernetesMinor),
  minCompatibilityMajor: '1',
  minCompatibilityMinor: String(kubernetesMinor - 1),
  gitVersion: kubernetesVersion(release),
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node${process.versions.node}`,
  compiler: 'v8',
  platform: `${process.platform}/${architectures[process.arch] ?? process.arch}`,
})
