/** `t8s apiserver`: only the API server, with the flags of kube-apiserver. */
import { Command } from 'commander'
import { defaultDataDirectory } from '../../../flags/flags.ts'
import { inForeground } from '../../../running/foreground.ts'
import { helpOrFlags } from '../../../running/help-or-flags.ts'

/** Time for active requests at shutdown, in ms. */
const graceMs = 5000

export function apiserverCommand(): Command {
  return passThrough(
    new Command('apiserver').description(
      'start only an API server, with the flags of kube-apiserver (--help lists them)',
    ),
  ).action((args: string[]) => apiserver(args))
}

/** Passes all arguments and flags through unparsed, including --help and --version. */
export const passThrough = (command: Command): Command =>
  command.argument('[FLAGS...]').helpOption(false).allowUnknownOption().passThroughOptions().enablePositionalOptions()

async function apiserver(args: readonly string[]): Promise<void> {
  await inForeground('kube-apiserver', graceMs, async () => {
    const flags = await helpOrFlags(args)
    if (flags === 'answered') process.exit()
    const [{ idleFlagLines, logFormatOf }, { standardLog }] = await Promise.all([
      import('../../../../apiserver/serving-flags/index.ts'),
      import('../../../../lib/log/log.ts'),
    ])
    const log = standardLog(logFormatOf(flags))
    const servers = flags.list('etcd-servers')
    const context = { cwd: process.cwd(), log }
    if (servers?.length) {
      const { runApiServer } = await import('../../../../tools/envtest/program.ts')
      return { ...(await runApiServer(flags, servers, context)), log }
    }
    const [{ startStandaloneApiServer }, { dataDirectory }, { openLogStore }] = await Promise.all([
      import('../../../../cluster/standalone-api-server/index.ts'),
      import('../../../../cluster/data-directory.ts'),
      import('../../../../storage/log/index.ts'),
    ])
    for (const line of idleFlagLines(flags)) log(line)
    const data = dataDirectory(flags.text('data-dir') ?? defaultDataDirectory)
    const store = await openLogStore({
      directory: data.store,
      acceptDataLoss: flags.bool('accept-data-loss'),
      notice: log,
    })
    try {
      const server = await startStandaloneApiServer({
        flags,
        cwd: process.cwd(),
        store,
        directory: data.path,
        warmUp: true,
        log,
      })
      log(`data in ${data.path}`)
      log(`serving on ${server.url}`)
      return { log, stop: (graceMs) => server.stop({ graceMs }).then(() => store.close()) }
    } catch (error) {
      await store.close()
      throw error
    }
  })
}
