import { byId } from '@gantry/contract/id';
import {
  channelList,
  createChannelInput,
  deletedChannel,
  noticeChannel,
  testChannelInput,
  testedChannel,
  updateChannelInput,
} from '@gantry/contract/notices';
import {
  createChannel,
  deleteChannel,
  testChannel,
  updateChannel,
  viewChannel,
  viewChannels,
} from '../notices/channels.ts';
import { allowed, router } from './procedures.ts';

export const channelsRouter = router({
  getAll: allowed('systemSettings')
    .meta({ summary: 'List the channels through which messages about alarms are sent' })
    .output(channelList)
    .query(async ({ ctx }) => ({ channels: await viewChannels(ctx) })),

  getById: allowed('systemSettings')
    .meta({ summary: 'Get one channel' })
    .input(byId)
    .output(noticeChannel)
    .query(({ ctx, input }) => viewChannel(ctx, input.id)),

  create: allowed('systemSettings')
    .meta({
      summary: 'Create a channel',
      notes:
        'SMTP sends through `SMTP_URL` and has only `to`. SLACK and TEAMS have only `url`, which is a secret: its origin is shown afterwards. TELEGRAM has the token of a bot as `secret` and chat ids in `to`. SMS and HTTP have `url`, `method`, `headers`, `body` and `secret`; SMS also has numbers in `to`, and sends one SMS: 160 characters of GSM 03.38, otherwise 70. A status from 200 to 299 within 10 s counts as taken, whatever the answer says. Otherwise the message is sent again for a day. Users are reached at their contacts, through the oldest enabled channel that works.',
    })
    .input(createChannelInput)
    .output(noticeChannel)
    .mutation(({ ctx, input }) => createChannel(ctx, input)),

  update: allowed('systemSettings')
    .meta({ summary: 'Change a channel', notes: 'Only the given fields change. The kind stays.' })
    .input(updateChannelInput)
    .output(noticeChannel)
    .mutation(({ ctx, input }) => updateChannel(ctx, input)),

  delete: allowed('systemSettings')
    .meta({
      summary: 'Delete a channel',
      notes:
        'Refused (CONFLICT) while a policy names it. Messages that wait are not sent. All stay in the log.',
    })
    .input(byId)
    .output(deletedChannel)
    .mutation(async ({ ctx, input }) => ({ success: true as const, id: await deleteChannel(ctx, input.id) })),

  test: allowed('systemSettings')
    .meta({ summary: 'Send a message of kind TEST to the recipients of a channel, or to one' })
    .input(testChannelInput)
    .output(testedChannel)
    .mutation(async ({ ctx, input }) => ({ noticeIds: await testChannel(ctx, input) })),
});
