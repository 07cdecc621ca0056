/** Metrics of the served Kubernetes version and this build, with upstream's names. */
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { kubernetesMinor } from '../../lib/release.ts'
import type { VersionInfo } from './version.ts'

export function versionMetrics(metrics: MetricsRegistry, version: VersionInfo): void {
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } = version
  const labels = [
    'major',
    'minor',
    'git_version',
    'git_commit',
    'git_tree_state',
    'build_date',
    'go_version',
    'compiler',
    'platform',
  ]
  const values = [major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform]
  const help =
    "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build " +
    'date, Go version, compiler and platform.'
  metrics.gauge('kubernetes_build_info', help, labels, () => [[values, 1]])
  const served = `1.${kubernetesMinor}`
  metrics.gauge(
    'version_info',
    'The version of the API that the component has, emulates, and is compatible with.',
    ['component', 'binary', 'emulation', 'min_compat'],
    () => [[['kube', served, served, `1.${kubernetesMinor - 1}`], 1]],
  )
}
