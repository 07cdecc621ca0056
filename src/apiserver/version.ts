/** What `/version` says. */

/** The API that is served. */
export const kubernetesMinor = 36

export interface VersionInfo {
  readonly major: string
  readonly minor: string
  /** The release whose API is served, and the oldest that could be served (KEP-4330). */
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

/** `v1.36.0+t8s.0.1.0`; there is no Go here, so that field names the runtime there is. */
export const versionInfo = (release: string): VersionInfo => ({
  major: '1',
  minor: String(kubernetesMinor),
  emulationMajor: '1',
  emulationMinor: String(kubernetesMinor),
  minCompatibilityMajor: '1',
  minCompatibilityMinor: String(kubernetesMinor - 1),
  gitVersion: `v1.${kubernetesMinor}.0+t8s.${release}`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node${process.versions.node}`,
  compiler: 'v8',
  platform: `${process.platform}/${architectures[process.arch] ?? process.arch}`,
})
