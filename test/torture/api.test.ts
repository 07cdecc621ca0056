/**
 * A short torture test of the API: a cold start on many objects, two kills, compaction. `npm run torture -- api` runs
 * for longer.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describe, type RoundReport } from './api/report.ts'
import { ApiTorture } from './api/torture.ts'

const objects = 20_000

test(`lists and watches of ${objects} objects stay consistent over kills and compaction`, async (t) => {
  const torture = await ApiTorture.begin(objects)
  const reports: RoundReport[] = []
  for (const compact of [false, true]) reports.push(await torture.run({ seconds: 4, kills: 1, writers: 300, compact }))
  for (const report of reports) {
    t.diagnostic(describe(report))
    assert.deepEqual(report.faults, [], `data and server.log are in ${torture.directory}`)
    assert.ok(report.acknowledged > 100 && report.lists > 10 && report.events > 100, describe(report))
  }
  await torture.end()
})
