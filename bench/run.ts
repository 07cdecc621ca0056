/**
 * `npm run bench`: starts `./t8s up` on a temporary directory, audited, for a user who has to ask RBAC, and measures
 * start, memory, kload's phases and the CPU time that they take. Asserts nothing. Compare numbers of one run on one
 * machine only. Others use the same cores: a bare server is measured before and after. `--soak` runs the load many
 * times over instead.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { benchAgainst } from './against.ts'
import { benchApply } from './apply.ts'
import { benchAuthorization } from './authorization.ts'
import { benchClusterStarts, benchMemoryStarts } from './cluster-starts.ts'
import { allLines, benchControllers } from './controllers/index.ts'
import { benchCustom } from './custom-resources.ts'
import { benchEnvtest } from './envtest.ts'
import { benchNodes } from './nodes/index.ts'
import { overload } from './overload.ts'
import { upstream } from './reference.ts'
import { report } from './report.ts'
import { users } from './rights.ts'
import { allPhases, type Generator, type Kind, load, type MeasuredPhase, measure } from './run-load.ts'
import { benchScheduler } from './scheduler.ts'
import { launcher, residentMegabytes, startServer, stopServer } from './server.ts'
import { soak } from './soak.ts'
import { benchStarts } from './starts.ts'
import { benchRules } from './validation-rules.ts'

const help = `npm run bench -- [flags]
--kind pods|configmaps   both unless said
-n, --n N                objects (default: 2000)
--phases PHASE,…         of ${allPhases.join(', ')}
--kload FILE             that binary makes the load
--against DIRECTORY      another checkout is measured beside this one: its CPU time a request, and the ratio
--rounds N               how often (default: 8)
--anew                   with --against, starts both servers anew each round
--rest N                 with --against, seconds that servers rest before they are loaded (default: 3)
--soak                   the load again and again: size of the data directory and resident memory
--loads N                how often (default: 40)
--envtest                control planes of test suites, instead of all else
--overload               200 clients, three times as many as may be in flight, instead of all else
--seconds N              for how long (default: 60)
--apply                  server-side apply in itself, instead of all else
--authorization          decisions of RBAC in themselves, instead of all else
--controllers            all controllers with many objects, and at rest, instead of all else
--lines LINE,…           of ${allLines.join(', ')}
--scheduler              the scheduler in itself, for clusters in memory, instead of all else
--nodes                  simulated nodes: 5,000 at rest, and how fast pods run on 1,000, instead of all else
--pods N                 with --nodes, also so many pods on 1,000 nodes: pages, a watch, a rolling restart (100000 takes ten minutes and more)
--rules                  validation rules of custom resources, instead of all else
--custom                 custom resources beside ConfigMaps, and hundreds of definitions, instead of all else
--starts                 t8s explain-panic and t8s config list beside a bare Node, t8s up on new and used directories, and startCluster() in memory, --loads times, instead of all else`

const starts = 5

const { values: flags } = parseArgs({
  options: {
    kind: { type: 'string' },
    n: { type: 'string', short: 'n', default: '2000' },
    phases: { type: 'string', default: allPhases.join(',') },
    kload: { type: 'string' },
    against: { type: 'string' },
    rounds: { type: 'string', default: '8' },
    anew: { type: 'boolean', default: false },
    rest: { type: 'string', default: '3' },
    soak: { type: 'boolean', default: false },
    loads: { type: 'string', default: '40' },
    envtest: { type: 'boolean', default: false },
    overload: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '60' },
    apply: { type: 'boolean', default: false },
    authorization: { type: 'boolean', default: false },
    controllers: { type: 'boolean', default: false },
    lines: { type: 'string', default: allLines.join(',') },
    scheduler: { type: 'boolean', default: false },
    nodes: { type: 'boolean', default: false },
    pods: { type: 'string', default: '0' },
    rules: { type: 'boolean', default: false },
    custom: { type: 'boolean', default: false },
    starts: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (flags.help) console.log(help)
else if (flags.envtest) await benchEnvtest()
else if (flags.apply) benchApply()
else if (flags.authorization) await benchAuthorization()
else if (flags.scheduler) await benchScheduler()
else await bench()

async function bench(): Promise<void> {
  const kinds: readonly Kind[] = flags.kind ? [flags.kind as Kind] : ['pods', 'configmaps']
  for (const kind of kinds)
    if (Object.keys(upstream[kind] ?? {}).length === 0) throw new Error(`--kind ${kind}: choose pods or configmaps`)
  const phases = flags.phases.split(',')
  const generator: Generator = { n: Number(flags.n), kload: flags.kload }
  const directory = mkdtempSync(join(tmpdir(), 't8s-bench-'))
  const tokenFile = join(directory, 'tokens.csv')
  writeFileSync(tokenFile, `${users.join('\n')}\n`)
  try {
    // Builds what is out of date, so that no start is charged for it.
    execFileSync(launcher, ['version'], { stdio: 'ignore' })
    // Others on the machine spoil every number.
    console.log(`${availableParallelism()} cores, load average before: ${loadavg()[0]?.toFixed(1)}`)
    if (flags.nodes) await benchNodes({ directory, pods: Number(flags.pods) })
    else if (flags.against) {
      const other = resolve(flags.against)
      await benchAgainst({
        directory,
        tokenFile,
        other,
        rounds: Number(flags.rounds),
        isAnew: flags.anew,
        restMs: Number(flags.rest) * 1000,
        kinds,
        phases,
        generator,
      })
    } else if (flags.overload) await overload(directory, tokenFile, Number(flags.seconds))
    else if (flags.starts) {
      benchStarts(directory, Number(flags.loads))
      await benchClusterStarts(directory, Number(flags.loads))
      await benchMemoryStarts(Number(flags.loads))
    } else if (flags.controllers) await benchControllers(directory, tokenFile, flags.lines.split(','))
    else if (flags.custom) await benchCustom(directory, tokenFile, generator)
    else if (flags.rules) await benchRules(directory, tokenFile, Number(flags.n))
    else if (flags.soak) await soak({ directory, tokenFile, loads: Number(flags.loads), kinds, phases, generator })
    else await benchOnce(directory, tokenFile, kinds, phases, generator)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function benchOnce(
  directory: string,
  tokenFile: string,
  kinds: readonly Kind[],
  chosen: readonly string[],
  generator: Generator,
): Promise<void> {
  let server = await startServer(directory, tokenFile)
  try {
    const times: number[] = []
    for (let i = 0; i < starts; i++) {
      await stopServer(server)
      server = await startServer(directory, tokenFile)
      times.push(server.readyMs)
    }
    // At rest: what it does after the start is over, and memory that the start needed was given back.
    await delay(12_000)
    const idle = residentMegabytes(server)
    // Load comes sooner.
    await stopServer(server)
    server = await startServer(directory, tokenFile)
    await delay(3000)
    const bare = [await bareServer(directory, generator)]
    const phases: MeasuredPhase[] = []
    for (const kind of kinds) phases.push(...(await measure(server, kind, chosen, generator)))
    const loaded = residentMegabytes(server)
    bare.push(await bareServer(directory, generator))
    report({ starts: times, idle, loaded, phases, bare })
  } finally {
    await stopServer(server)
  }
}

/** GETs a second that a bare server in Node answers just now. */
async function bareServer(directory: string, generator: Generator): Promise<number> {
  const pki = join(directory, 'data/pki')
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'bare-server.ts'), join(pki, 'apiserver.crt'), join(pki, 'apiserver.key')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer]
    const [result] = await load('pods', `https://127.0.0.1:${port.toString().trim()}`, 'get', generator)
    return result!.rate
  } finally {
    child.kill()
  }
}
