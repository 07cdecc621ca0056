/** `t8s version`: the versions of t8s and of the Kubernetes API. */
import { Command } from 'commander'
import { release } from '../../lib/release.ts'

export function versionCommand(): Command {
  return new Command('version')
    .description('show the versions of t8s and of the Kubernetes API it serves')
    .action(async () => {
      const { versionInfo } = await import('../../apiserver/version/version.ts')
      process.stdout.write(
        `t8s ${release}\nKubernetes ${versionInfo(release).gitVersion}\nNode v${process.versions.node}\n`,
      )
    })
}
