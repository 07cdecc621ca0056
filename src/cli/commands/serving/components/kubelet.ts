/** `t8s kubelet`: makes this machine a node of any cluster, on a CRI runtime. */
import { Command } from 'commander'
import { standardLog } from '../../../../lib/log/log.ts'
import { releaseMemoryWhenIdle } from '../../../../lib/process/memory/release-memory.ts'
import { tuneAfterStart } from '../../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../../lib/process/unhandled-errors.ts'
import { stopSignal } from '../../../running/stop-signal.ts'
import { passThrough } from './apiserver.ts'

export function kubeletCommand(): Command {
  return passThrough(
    new Command('kubelet').description(
      'make this machine a node that runs pods, on containerd or another CRI runtime (--help lists the flags)',
    ),
  ).action((args: string[]) => runNode(args))
}

async function runNode(args: readonly string[]): Promise<void> {
  const stopping = stopSignal()
  const { deprecatedFlagLines, effectiveConfiguration, idleFlagLines, kubeletFlags, kubeletHelp } = await import(
    '../../../../cluster/kubelet/command-line.ts'
  )
  // As upstream, --help is answered before flags are parsed, so that wrong flags do not matter.
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(kubeletHelp('t8s kubelet'))
    process.exit()
  }
  const flags = kubeletFlags(args)
  if (flags.text('version') !== undefined && flags.text('version') !== 'false') {
    const { kubernetesVersion, release } = await import('../../../../lib/release.ts')
    process.stdout.write(`Kubernetes ${kubernetesVersion(release)}\n`)
    process.exit()
  }
  for (const line of deprecatedFlagLines(flags)) process.stderr.write(`${line}\n`)
  const { configuration, format, notices } = effectiveConfiguration(flags)
  const log = standardLog(format)
  for (const line of [...idleFlagLines(flags), ...notices]) log(line)
  const starting = new AbortController()
  void stopping.requested.then(() => starting.abort())
  const { startStandaloneKubelet } = await import('../../../../cluster/kubelet/standalone-kubelet.ts')
  const kubelet = await startStandaloneKubelet({ flags, configuration, log, signal: starting.signal })
  try {
    log(`node ${kubelet.nodeName} serves on port ${kubelet.port}`)
    surviveErrors(log)
    tuneAfterStart()
    releaseMemoryWhenIdle()
    await stopping.requested
  } finally {
    await kubelet.stop()
  }
}
