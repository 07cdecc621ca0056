/** `t8s proxy`: makes Services work on this machine, a node of any cluster. */
import { Command } from 'commander'
import { standardLog } from '../../../../lib/log/log.ts'
import { releaseMemory, releaseMemoryWhenIdle } from '../../../../lib/process/memory/release-memory.ts'
import { tuneAfterStart } from '../../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../../lib/process/unhandled-errors.ts'
import { stopSignal } from '../../../running/stop-signal.ts'
import { passThrough } from './apiserver.ts'

export function proxyCommand(): Command {
  return passThrough(
    new Command('proxy').description(
      'make Services work on this machine, a node of any cluster (--help lists the flags)',
    ),
  ).action((args: string[]) => runProxy(args))
}

async function runProxy(args: readonly string[]): Promise<void> {
  const stopping = stopSignal()
  const { noticesOf, proxyFlags, proxyHelp } = await import('../../../../cluster/proxy/flags.ts')
  // As upstream, --help is answered before flags are parsed, so that wrong flags do not matter.
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(proxyHelp('t8s proxy'))
    process.exit()
  }
  const flags = proxyFlags(args)
  if (flags.text('version') !== undefined && flags.text('version') !== 'false') {
    const { kubernetesVersion, release } = await import('../../../../lib/release.ts')
    process.stdout.write(`Kubernetes ${kubernetesVersion(release)}\n`)
    process.exit()
  }
  const format = flags.text('logging-format')
  const log = standardLog(format === 'json' || format === 'text' ? format : undefined)
  for (const line of noticesOf(flags)) log(line)
  const { startStandaloneProxy } = await import('../../../../cluster/proxy/standalone-proxy.ts')
  const proxy = await startStandaloneProxy(flags, log)
  if (!proxy) return
  try {
    log(`Services of the node ${proxy.node} work by the proxy mode ${proxy.mode}`)
    surviveErrors(log)
    tuneAfterStart()
    releaseMemoryWhenIdle()
    // Lists of all Services were as large as the heap that remains.
    void proxy.synced.then(releaseMemory)
    await Promise.race([stopping.requested, proxy.failed])
  } finally {
    await proxy.stop()
  }
}
