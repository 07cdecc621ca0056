/** Kills a writing process many times. `TORTURE_ROUNDS` sets the number; `scripts/torture.ts` runs for hours. */
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

test(`${rounds} kills lose no acknowledged write, tear none, and leave no gap in the watch`, async () => {
  for (let round = 0; round < rounds; round++) await tortureRound(torture, 60 + ((round * 37) % 140))
  assert.ok(torture.acknowledgements > rounds * 20, `${torture.acknowledgements} acknowledgements`)
  assert.ok(torture.oldest > 1, 'the log was cleaned meanwhile')
})

test('opening a store while another process writes fails with its pid', async () => {
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

test('a snapshot taken while another process writes is consistent', async () => {
  await tortureRound(torture, 50, () => snapshotRound(torture))
})
