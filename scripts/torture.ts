/** Tortures the store until it breaks or the time is up: `node scripts/torture.ts --hours 2`, or `--rounds 1000`. */
import { parseArgs } from 'node:util'
import { endTorture, snapshotRound, startTorture, tortureRound } from '../test/torture/round.ts'

const { values } = parseArgs({ options: { hours: { type: 'string' }, rounds: { type: 'string' } } })
const rounds = Number(values.rounds ?? Number.POSITIVE_INFINITY)
const deadline = Date.now() + Number(values.hours ?? (values.rounds ? Number.POSITIVE_INFINITY : 1)) * 3_600_000
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
      `${round + 1} kills, ${torture.acknowledgements} acknowledgements, revision ${torture.revision}, files from ${torture.oldest} on, ${torture.interrupted} in the middle of something`,
    )
}
await endTorture(torture)
console.log(`${round} kills, ${torture.acknowledgements} acknowledgements: every promise was kept`)
