/** `npm run torture`: stresses the store, or the whole server over HTTP, until a fault is found or the time is over. */
import { parseArgs } from 'node:util'
import { tortureApi } from '../test/torture/api/run.ts'
import { tortureCancel } from '../test/torture/cancel/run.ts'
import { faultNames, isFaultName } from '../test/torture/etcd/faults.ts'
import { tortureEtcd } from '../test/torture/etcd/run.ts'
import { endTorture, snapshotRound, startTorture, tortureRound } from '../test/torture/round.ts'
import { tortureRuntime } from '../test/torture/runtime/run.ts'

const help = `npm run torture -- [store|api|runtime|node|--cancel|--etcd] [flags]

store   kills a process that writes to a store, and checks that no acknowledged write is lost (default)
        --hours N       duration (default: 1)
        --rounds N      number of kills instead
api     starts ./t8s up cold on a full store while hundreds write, list and watch; kills, compacts and restarts it;
        then compares all observations of clients with all writes
        --minutes N     duration (default: 10)
        --rounds N      number of rounds instead
        --objects N     objects in the store at the beginning (default: 120000)
        --writers N     concurrent writers (default: 300)
        --kills N       kills per round (default: 3)
        --seconds N     approximate time between two kills (default: 10)
runtime kills and restarts the container runtime under pods that write, run commands and exit; then looks for lost
        or doubled lines, wrong exit codes and anything left behind. Needs root
        --kills N       number of kills (default: 50)
        --pods N        pods at a time (default: 20)
        --seed N        the random choices of an earlier run
node    the same with t8s up and its real node, with pods of the API; its flags are those of runtime
--cancel sends requests of every kind to a server whose webhooks, authorizers, aggregated APIs and kubelets are slow,
        hang, reset or respond incorrectly, with clients that cancel at random; then checks for traces in the server
        --minutes N     duration (default: 10)
        --seed N        the random choices of an earlier run
--etcd  lets members of an etcd cluster of three, and two API servers on it, be killed, cut off and stopped under
        clients that write, list and watch; then compares all observations with all writes. Needs root and etcd
        --kills N       number of faults (default: 100)
        --faults NAMES  what happens, of leader, server, cut and slow, comma-separated (default: all)
        --writers N     concurrent writers (default: 16)
        --seed N        the random choices of an earlier run

If a promise is broken, the data are kept and the exit code is 1.`

/** Parses the number of a flag. */
function number(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value >= 0)) fail(`--${name} ${text}: must be a number`)
  return value
}

function fail(message: string): never {
  console.error(`${message}; npm run torture -- --help lists the flags`)
  process.exit(2)
}

const flag = { type: 'string' } as const
const options = {
  hours: flag,
  minutes: flag,
  rounds: flag,
  objects: flag,
  writers: flag,
  kills: flag,
  seconds: flag,
  seed: flag,
  pods: flag,
  faults: flag,
  cancel: { type: 'boolean' },
  etcd: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const parts = ['store', 'api', 'runtime', 'node'] as const
const isPart = (name: string): name is (typeof parts)[number] => (parts as readonly string[]).includes(name)

function parsed() {
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    return fail((error as Error).message.split('. ')[0] ?? '')
  }
}

const { values, positionals } = parsed()
const [part = 'store', ...rest] = positionals
const given = (name: Exclude<keyof typeof options, 'help' | 'cancel' | 'etcd' | 'faults'>): number | undefined =>
  number(name, values[name])
if (values.help) console.log(help)
else if (rest.length > 0 || !isPart(part)) fail(`unknown target ${positionals.join(' ')}`)
else if (values.cancel) {
  if (positionals.length > 0) fail(`--cancel cannot be combined with ${part}`)
  const hasFault = await tortureCancel({
    minutes: given('minutes') ?? 10,
    seed: given('seed') ?? Date.now() % 1_000_000,
  })
  process.exitCode = hasFault ? 1 : 0
} else if (values.etcd) {
  if (positionals.length > 0) fail(`--etcd cannot be combined with ${part}`)
  const named = values.faults?.split(',') ?? faultNames
  const kinds = named.map((name) => (isFaultName(name) ? name : fail(`--faults ${name}: ${faultNames.join(' or ')}`)))
  const hasFault = await tortureEtcd({
    faults: given('kills') ?? 100,
    kinds,
    writers: given('writers') ?? 16,
    recoveryMs: 5000,
    seed: given('seed') ?? Date.now() % 1_000_000,
  })
  process.exitCode = hasFault ? 1 : 0
} else if (part === 'runtime' || part === 'node') {
  const seed = given('seed') ?? Date.now() % 1_000_000
  const hasFault = await tortureRuntime({
    target: part,
    kills: given('kills') ?? 50,
    pods: given('pods') ?? 20,
    seed,
  })
  process.exitCode = hasFault ? 1 : 0
} else if (part === 'api') {
  const rounds = given('rounds')
  const broken = await tortureApi({
    rounds: rounds ?? Number.POSITIVE_INFINITY,
    minutes: given('minutes') ?? (rounds === undefined ? 10 : Number.POSITIVE_INFINITY),
    objects: given('objects') ?? 120_000,
    writers: given('writers') ?? 300,
    kills: given('kills') ?? 3,
    seconds: given('seconds') ?? 10,
  })
  process.exitCode = broken ? 1 : 0
} else
  await tortureStore(
    given('rounds') ?? Number.POSITIVE_INFINITY,
    given('hours') ?? (values.rounds ? Number.POSITIVE_INFINITY : 1),
  )

async function tortureStore(rounds: number, hours: number): Promise<void> {
  const deadline = Date.now() + hours * 3_600_000
  const roundsPerReport = 50
  const roundsPerSnapshot = 10
  const torture = await startTorture()
  console.log(`torturing ${torture.directory}; it is kept if a promise is broken`)
  let round = 0
  for (; round < rounds && Date.now() < deadline; round++) {
    const snapshot = round % roundsPerSnapshot === roundsPerSnapshot - 1 ? () => snapshotRound(torture) : undefined
    await tortureRound(torture, Math.random() * 400, snapshot)
    if (round % roundsPerReport === roundsPerReport - 1)
      console.log(
        `${round + 1} kills, ${torture.acknowledgements} acknowledgements, revision ${torture.revision}, files ` +
          `from ${torture.oldest} on, ${torture.interrupted} interrupted a change`,
      )
  }
  await endTorture(torture)
  console.log(`${round} kills, ${torture.acknowledgements} acknowledgements: no promise was broken`)
}
