/** Kills a writing process many times over. `TORTURE_ROUNDS` says how often; `scripts/torture.ts` goes on for hours. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openLogStore } from '../../src/storage/log/index.ts'
import { endTorture, snapshotRound, startTorture, storeOf, type Torture, tortureRound } from './round.ts'

const rounds = Number(process.env.TORTURE_ROUNDS ?? 25)
let torture: Torture

before(async () => {
  torture = await startTorture()
})
after(() => endTorture(torture))

test(`after ${rounds} kills every acknowledged write is there, none in part, and the watch has missed nothing`, async () => {
  for (let round = 0; round < rounds; round++) await tortureRound(torture, 60 + ((round * 37) % 140))
  assert.ok(torture.acknowledgements > rounds * 20, `${torture.acknowledgements} acknowledgements`)
  assert.ok(torture.oldest > 1, 'space was given back meanwhile')
})

test('while a process writes, another one cannot open the store, and it is told which one writes', async () => {
  await tortureRound(torture, 50, async (pid) => {
    await assert.rejects(openLogStore({ directory: storeOf(torture) }), (error: Error) => {
      assert.equal(error.name, 'StoreOpenError')
      assert.ok(
        error.message.includes(storeOf(torture)) && error.message.includes(`another process (pid ${pid})`),
        error.message,
      )
      return true
    })
  })
})

test('a snapshot taken while another process writes is whole', async () => {
  await tortureRound(torture, 50, () => snapshotRound(torture))
})
