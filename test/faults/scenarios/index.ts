import type { Scenario } from '../run-scenario.ts'
import { breakClickHouse } from './break-clickhouse.ts'
import { breakSeveral } from './break-several.ts'
import { changePartitions, changePartitionsInTrouble } from './change-partitions.ts'
import { cutConnections } from './cut-connections.ts'
import { erasePerson } from './erase-person.ts'
import { fillDisks } from './fill-disks.ts'
import { hostileTenant } from './hostile-tenant.ts'
import { killFrontDoor } from './kill-front-door.ts'
import { killWorkers } from './kill-workers.ts'
import { overload } from './overload.ts'
import { pauseWorkers } from './pause-workers.ts'
import { poisonStream } from './poison-stream.ts'
import { pausePostgres, restartPostgres } from './restart-postgres.ts'
import { emptyRedis, killRedis, rewindRedis } from './restart-redis.ts'
import { scaleWorkers } from './scale-workers.ts'
import { setBackClock } from './set-back-clock.ts'

export const SCENARIOS: Scenario[] = [
  killWorkers,
  pauseWorkers,
  killFrontDoor,
  killRedis,
  rewindRedis,
  emptyRedis,
  restartPostgres,
  pausePostgres,
  breakClickHouse,
  poisonStream,
  cutConnections,
  scaleWorkers,
  changePartitions,
  changePartitionsInTrouble,
  erasePerson,
  fillDisks,
  overload,
  hostileTenant,
  breakSeveral,
  setBackClock,
]
