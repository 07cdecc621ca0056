/** `npm run torture`: breaks the store, or the whole server over HTTP, until a fault is found or the time is up. */
import { parseArgs } from 'node:util'
import { tortureApi } from '../test/torture/api/run.ts'
import { tortureCancel } from '../test/torture/cancel/run.ts'
import { endTorture, snapshotRound, startTorture, tortureRound } from '../test/torture/round.ts'

const help = `npm run torture -- [store|api|--cancel] [flags]

store   kills a process that writes to a store, and checks that nothing promised is lost (unless said)
        --hours N       how long (default: 1)
        --rounds N      how many kills instead
api     starts ./t8s up cold on a full store while hundreds write, list and watch; kills it, compacts it, starts it again;
        then holds all that clients saw against all that was written
        --minutes N     how long (default: 10)
        --rounds N      how many rounds instead
        --objects N     objects in the store at the beginning (default: 120000)
        --writers N     requests that write at once (default: 300)
        --kills N       kills a round (default: 3)
        --seconds N     between two kills, about (default: 10)
--cancel sends requests of every kind to a server whose webhooks, authorizers, aggregated APIs and kubelets are slow, hang,
        reset and lie, while clients leave at random moments; then checks that the server is as it was before
        --minutes N     how long (default: 10)
        --seed N        the random choices of an earlier run

Data stay where they are, and the exit code is 1, if a promise is broken.`

/** What a flag's number must be. */
function number(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value >= 0)) fail(`--${name} ${text}: a number is wanted`)
  return value
}

function fail(message: string): never {
  console.error(`${message}; npm run torture -- --help shows what there is`)
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
  cancel: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

function parsed() {
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    return fail((error as Error).message.split('. ')[0] ?? '')
  }
}

const { values, positionals } = parsed()
const [part = 'store', ...rest] = positionals
const given = (name: Exclude<keyof typeof options, 'help' | 'cancel'>): number | undefined => number(name, values[name])
if (values.help) console.log(help)
else if (rest.length > 0 || (part !== 'store' && part !== 'api'))
  fail(`there is nothing called ${positionals.join(' ')}`)
else if (values.cancel) {
  if (positionals.length > 0) fail(`--cancel stands alone, without ${part}`)
  const hasFault = await tortureCancel({
    minutes: given('minutes') ?? 10,
    seed: given('seed') ?? Date.now() % 1_000_000,
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
  console.log(`torturing ${torture.directory}; it stays if a promise is broken`)
  let round = 0
  for (; round < rounds && Date.now() < deadline; round++) {
    const snapshot = round % roundsPerSnapshot === roundsPerSnapshot - 1 ? () => snapshotRound(torture) : undefined
    await tortureRound(torture, Math.random() * 400, snapshot)
    if (round % roundsPerReport === roundsPerReport - 1)
      console.log(
        `${round + 1} kills, ${torture.acknowledgements} acknowledgements, revision ${torture.revision}, files ` +
          `from ${torture.oldest} on, ${torture.interrupted} in the middle of something`,
      )
  }
  await endTorture(torture)
  console.log(`${round} kills, ${torture.acknowledgements} acknowledgements: every promise was kept`)
}
