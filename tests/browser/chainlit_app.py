"""A chat of Chainlit before the service, as its documentation has it for any server of the OpenAI API."""

import os

import chainlit
from openai import AsyncOpenAI

client = AsyncOpenAI(base_url=os.environ["BASE_URL"], api_key="none")


@chainlit.on_message
async def answer(_):
    messages = chainlit.chat_context.to_openai()
    stream = await client.chat.completions.create(model="shoes", messages=messages, stream=True)
    said = chainlit.Message(content="")
    async for chunk in stream:
        if chunk.choices:
            await said.stream_token(chunk.choices[0].delta.content or "")
    await said.send()
