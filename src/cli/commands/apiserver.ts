/** `t8s apiserver`: the API server alone, with the flags of kube-apiserver. */
import { Command } from 'commander'
import { defaultDataDirectory } from '../flags/flags.ts'
import { answeredAtOnce } from '../running/answered-at-once.ts'
import { inForeground } from '../running/foreground.ts'

/** Requests under way get this long when the server ends, in ms. */
const graceMs = 5000

export function apiserverCommand(): Command {
  return passingOn(
    new Command('apiserver').description(
      'start an API server alone, with the flags of kube-apiserver (--help lists them)',
    ),
  ).action((args: string[]) => apiserver(args))
}

/** A command whose words and flags are read by somebody else, its --help and --version too. */
export const passingOn = (command: Command): Command =>
  command.argument('[FLAGS...]').helpOption(false).allowUnknownOption().passThroughOptions().enablePositionalOptions()

async function apiserver(args: readonly string[]): Promise<void> {
  await inForeground('kube-apiserver', graceMs, async () => {
    const flagged = await answeredAtOnce(args)
    if (flagged === 'answered') process.exit()
    const [{ idleFlagLines, logFormatOf }, { standardLog }] = await Promise.all([
      import('../../apiserver/serving-flags/index.ts'),
      import('../../lib/log/log.ts'),
    ])
    const log = standardLog(logFormatOf(flagged))
    const servers = flagged.list('etcd-servers')
    const surroundings = { cwd: process.cwd(), log }
    if (servers?.length) {
      const { runApiServer } = await import('../../envtest/program.ts')
      return { ...(await runApiServer(flagged, servers, surroundings)), log }
    }
    const [{ startStandaloneApiServer: startLoneServer }, { dataDirectory }, { openLogStore }] = await Promise.all([
      import('../../cluster/standalone-api-server/index.ts'),
      import('../../cluster/data-directory.ts'),
      import('../../storage/log/index.ts'),
    ])
    for (const line of idleFlagLines(flagged)) log(line)
    const data = dataDirectory(flagged.text('data-dir') ?? defaultDataDirectory)
    const store = await openLogStore({
      directory: data.store,
      acceptDataLoss: flagged.bool('accept-data-loss'),
      notice: log,
    })
    try {
      const server = await startLoneServer({
        flags: flagged,
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
