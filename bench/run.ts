/**
 * `npm run bench`: starts `./t8s up` on a temporary directory, with audit, for a user whose rights RBAC decides, and
 * measures start, memory, kload's phases and their CPU time. Asserts nothing. Only numbers of one run on one machine
 * are comparable. Since other processes use the same cores, a bare server is measured before and after. `--soak`
 * repeats the load many times instead.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { benchAgainst } from './against.ts'
import { allLines, benchControllers } from './controllers/index.ts'
import { benchCustom } from './custom-resources/custom-resources.ts'
import { benchRules } from './custom-resources/validation-rules.ts'
import { benchDns } from './dns/index.ts'
import { benchEtcd } from './etcd/index.ts'
import { benchFlannel } from './flannel/index.ts'
import { benchApply } from './in-process/apply.ts'
import { benchAuthorization } from './in-process/authorization.ts'
import { benchIngress } from './in-process/ingress.ts'
import { benchPatterns } from './in-process/patterns.ts'
import { benchScheduler } from './in-process/scheduler.ts'
import { benchKubelet } from './kubelet/index.ts'
import type { Kind } from './load/objects.ts'
import { allPhases, type Generator, load, type MeasuredPhase, measure } from './load/run-load.ts'
import { benchNodes } from './nodes/index.ts'
import { overload } from './overload/index.ts'
import { benchPolicies } from './policies/index.ts'
import { upstream } from './reference.ts'
import { report } from './report.ts'
import { benchRuntime } from './runtime/index.ts'
import { users } from './server/rights.ts'
import { launcher, residentMegabytes, startServer, stopServer } from './server/server.ts'
import { benchServices } from './services/index.ts'
import { soak } from './soak.ts'
import { benchClusterStarts } from './starts/cluster-starts.ts'
import { benchStarts } from './starts/command-starts.ts'
import { benchEnvtest } from './starts/envtest.ts'
import { benchProgramStarts } from './starts/program-starts.ts'
import { benchUserspace } from './userspace/index.ts'

const help = `npm run bench -- [flags]
--kind pods|configmaps   (default: both)
-n, --n N                objects (default: 2000)
--phases PHASE,…         ${allPhases.join(', ')}
--kload FILE             generate the load with this binary
--against DIRECTORY      compare with another checkout: CPU time per request, and the ratio
--rounds N               number of rounds with --against (default: 8)
--restart                with --against, restart both servers in each round
--rest N                 with --against, seconds between the start and the load (default: 3)
--soak                   repeat the load: size of the data directory and resident memory
--loads N                number of loads or starts (default: 40)
--envtest                only: control planes of test suites
--overload               only: 200 clients, three times the limit of requests in flight
--seconds N              duration of --overload (default: 60)
--apply                  only: server-side apply without connection and store
--authorization          only: RBAC decisions
--patterns               only: patterns of schemas
--ingress                only: the ingress proxy compared with its backend
--controllers            only: all controllers, with many objects and at rest
--lines LINE,…           with --controllers: ${allLines.join(', ')}
--scheduler              only: the scheduler, with clusters in memory
--nodes                  only: simulated nodes: 5,000 at rest, and the start of pods on 1,000
--kubelet                only: the kubelet on containerd: starts, exec, logs, resources (needs root)
--runtime                only: containers, images and a real node of t8s runtime (needs root)
--services               only: modes of kube-proxy with 10,000 Services (needs root)
--flannel                only: pods across nodes by backends of flannel, and by hand (needs root, iperf3)
--policies               only: network policies of 1,000 pods (needs root)
--userspace              only: the forwarder of the proxy mode userspace, beside a proxy of Node's net
--dns                    only: names of 1,000 Services, asked by UDP
--etcd                   only: an API server on etcd (needs etcd), and two of them that read
--reference FILE         with --etcd, compare with this kube-apiserver
--pods N                 with --nodes, also this many pods on 1,000 nodes (100000: over ten minutes)
--rules                  only: validation rules of custom resources
--custom                 only: custom resources compared with ConfigMaps, and hundreds of definitions
--starts                 only: --loads starts of t8s explain-panic, t8s config list, t8s up and startCluster()`

const starts = 5

const { values: flags } = parseArgs({
  options: {
    kind: { type: 'string' },
    n: { type: 'string', short: 'n', default: '2000' },
    phases: { type: 'string', default: allPhases.join(',') },
    kload: { type: 'string' },
    against: { type: 'string' },
    rounds: { type: 'string', default: '8' },
    restart: { type: 'boolean', default: false },
    rest: { type: 'string', default: '3' },
    soak: { type: 'boolean', default: false },
    loads: { type: 'string', default: '40' },
    envtest: { type: 'boolean', default: false },
    overload: { type: 'boolean', default: false },
    ingress: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '60' },
    apply: { type: 'boolean', default: false },
    authorization: { type: 'boolean', default: false },
    patterns: { type: 'boolean', default: false },
    controllers: { type: 'boolean', default: false },
    lines: { type: 'string', default: allLines.join(',') },
    scheduler: { type: 'boolean', default: false },
    nodes: { type: 'boolean', default: false },
    kubelet: { type: 'boolean', default: false },
    runtime: { type: 'boolean', default: false },
    services: { type: 'boolean', default: false },
    flannel: { type: 'boolean', default: false },
    policies: { type: 'boolean', default: false },
    userspace: { type: 'boolean', default: false },
    dns: { type: 'boolean', default: false },
    etcd: { type: 'boolean', default: false },
    reference: { type: 'string' },
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
else if (flags.patterns) benchPatterns()
else if (flags.ingress) await benchIngress()
else if (flags.kubelet) await benchKubelet()
else if (flags.runtime) await benchRuntime()
else if (flags.services) await benchServices()
else if (flags.flannel) await benchFlannel()
else if (flags.policies) await benchPolicies()
else if (flags.userspace) await benchUserspace()
else if (flags.dns) await benchDns()
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
    // Builds the program if it is out of date, so that no start includes it.
    execFileSync(launcher, ['version'], { stdio: 'ignore' })
    // Other processes on the machine distort the numbers.
    console.log(`${availableParallelism()} cores, load average before: ${loadavg()[0]?.toFixed(1)}`)
    if (flags.nodes) await benchNodes({ directory, pods: Number(flags.pods) })
    else if (flags.against) {
      const other = resolve(flags.against)
      await benchAgainst({
        directory,
        tokenFile,
        other,
        rounds: Number(flags.rounds),
        restartsEachRound: flags.restart,
        restMs: Number(flags.rest) * 1000,
        kinds,
        phases,
        generator,
      })
    } else if (flags.etcd)
      await benchEtcd({ directory, tokenFile, kinds, phases, generator, reference: flags.reference })
    else if (flags.overload) await overload(directory, tokenFile, Number(flags.seconds))
    else if (flags.starts) {
      benchStarts(directory, Number(flags.loads))
      await benchClusterStarts(directory, Number(flags.loads))
      benchProgramStarts(Number(flags.loads))
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
    // At rest: the work after the start is done, and its memory has been released.
    await delay(12_000)
    const idle = residentMegabytes(server)
    // The load begins sooner after a start.
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

/** Returns the GETs per second of a bare Node server at present. */
async function bareServer(directory: string, generator: Generator): Promise<number> {
  const pki = join(directory, 'data/pki')
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'server/bare-server.ts'), join(pki, 'apiserver.crt'), join(pki, 'apiserver.key')],
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
