"""What an official SDK makes of the simulator's answers: a JSON object on stdout.

    ask.py SDK BASE_URL    with {"prompt": …, "tools": […], "tool_prompt": …} on standard input
"""

import json
import sys

sdk, base = sys.argv[1], sys.argv[2]
asked = json.load(sys.stdin)
prompt, tools, tool_prompt = asked["prompt"], asked["tools"], asked["tool_prompt"]
LIMIT = 6


def chat() -> dict:
    import openai

    client = openai.OpenAI(base_url=base + "/v1", api_key="k", max_retries=0)
    ask = dict(model="sim", messages=[{"role": "user", "content": prompt}], max_tokens=LIMIT)
    text, usage, finish = "", None, None
    for chunk in client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
        usage = chunk.usage or usage
    whole = client.chat.completions.create(**ask)
    called = client.chat.completions.create(
        model="tools", messages=[{"role": "user", "content": tool_prompt}], tools=tools
    )
    call = called.choices[0].message.tool_calls[0].function
    try:
        client.chat.completions.create(**(ask | {"model": "nobody"}))
        error = None
    except openai.APIStatusError as failed:
        error = failed.status_code
    return {
        "text": text, "finish": finish, "output": usage.completion_tokens, "whole": whole.choices[0].message.content,
        "call": [call.name, json.loads(call.arguments)], "error": error,
    }


def responses() -> dict:
    import openai

    client = openai.OpenAI(base_url=base + "/v1", api_key="k", max_retries=0)
    ask = dict(model="sim", input=prompt, max_output_tokens=LIMIT)
    text, last = "", None
    for event in client.responses.create(**ask, stream=True):
        if event.type == "response.output_text.delta":
            text += event.delta
        if event.type in ("response.completed", "response.incomplete"):
            last = event.response
    whole = client.responses.create(**ask)
    flat = [{"type": "function", "strict": False, **tool["function"]} for tool in tools]
    called = client.responses.create(model="tools", input=tool_prompt, tools=flat)
    call = next(item for item in called.output if item.type == "function_call")
    try:
        client.responses.create(**(ask | {"model": "nobody"}))
        error = None
    except openai.APIStatusError as failed:
        error = failed.status_code
    return {
        "text": text, "finish": last.incomplete_details.reason, "output": last.usage.output_tokens,
        "whole": whole.output_text, "call": [call.name, json.loads(call.arguments)], "error": error,
    }


def messages() -> dict:
    import anthropic

    client = anthropic.Anthropic(base_url=base, api_key="k", max_retries=0)
    ask = dict(model="sim", messages=[{"role": "user", "content": prompt}], max_tokens=LIMIT)
    with client.messages.stream(**ask) as stream:
        text = "".join(stream.text_stream)
        last = stream.get_final_message()
    whole = client.messages.create(**ask)
    own = [
        {"name": tool["function"]["name"], "description": tool["function"].get("description", ""),
         "input_schema": tool["function"]["parameters"]}
        for tool in tools
    ]
    with client.messages.stream(
        model="tools", messages=[{"role": "user", "content": tool_prompt}], tools=own, max_tokens=400
    ) as stream:
        called = stream.get_final_message()
    call = next(block for block in called.content if block.type == "tool_use")
    try:
        client.messages.create(**(ask | {"model": "nobody"}))
        error = None
    except anthropic.APIStatusError as failed:
        error = failed.status_code
    return {
        "text": text, "finish": last.stop_reason, "output": last.usage.output_tokens,
        "whole": "".join(block.text for block in whole.content if block.type == "text"),
        "call": [call.name, call.input], "error": error,
    }


def gemini() -> dict:
    from google import genai
    from google.genai import errors, types

    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=base, api_version="v1beta"))
    limit = types.GenerateContentConfig(max_output_tokens=LIMIT)
    text, last = "", None
    for chunk in client.models.generate_content_stream(model="sim", contents=prompt, config=limit):
        text += chunk.text or ""
        last = chunk
    whole = client.models.generate_content(model="sim", contents=prompt, config=limit)
    own = [types.FunctionDeclaration(name=tool["function"]["name"],
                                     parameters_json_schema=tool["function"]["parameters"]) for tool in tools]
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=own)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    called = client.models.generate_content(model="tools", contents=tool_prompt, config=config)
    call = called.function_calls[0]
    try:
        client.models.generate_content(model="nobody", contents=prompt, config=limit)
        error = None
    except errors.APIError as failed:
        error = failed.code
    return {
        "text": text, "finish": last.candidates[0].finish_reason.value,
        "output": last.usage_metadata.candidates_token_count, "whole": whole.text,
        "call": [call.name, dict(call.args)], "error": error,
    }


def bedrock() -> dict:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import ClientError, EventStreamError

    client = boto3.client(
        "bedrock-runtime", endpoint_url=base, region_name="us-east-1", aws_access_key_id="AKIDEXAMPLE",
        aws_secret_access_key="k", config=Config(retries={"max_attempts": 0}),
    )
    messages = [{"role": "user", "content": [{"text": prompt}]}]
    ask = dict(modelId="sim", messages=messages, inferenceConfig={"maxTokens": LIMIT})

    def streamed(**ask) -> tuple[list, dict]:
        blocks, ends = {}, {}
        for event in client.converse_stream(**ask)["stream"]:
            (name, said), = event.items()
            block = blocks.setdefault(said.get("contentBlockIndex"), {"text": "", "input": ""})
            if name == "contentBlockStart":
                block["name"] = said["start"]["toolUse"]["name"]
            if name == "contentBlockDelta":
                delta = said["delta"]
                block["text"] += delta.get("text", "")
                block["input"] += delta.get("toolUse", {}).get("input", "")
            ends |= said if name in ("messageStop", "metadata") else {}
        return list(blocks.values()), ends

    said, ends = streamed(**ask)
    whole = client.converse(**ask)
    assert whole["usage"] == ends["usage"], (whole, ends)
    own = [
        {"toolSpec": {"name": tool["function"]["name"], "description": tool["function"].get("description", "none"),
                      "inputSchema": {"json": tool["function"]["parameters"]}}}
        for tool in tools
    ]
    called, _ = streamed(
        modelId="tools", messages=[{"role": "user", "content": [{"text": tool_prompt}]}], toolConfig={"tools": own}
    )
    call = next(block for block in called if "name" in block)
    try:
        streamed(**(ask | {"modelId": "failing:0"}))
        raise AssertionError("an exception in the stream was not seen")
    except EventStreamError as failed:
        assert failed.response["Error"]["Code"] == "internalServerException", failed.response
    try:
        client.converse(**(ask | {"modelId": "nobody"}))
        error = None
    except ClientError as failed:
        assert failed.response["Error"]["Code"] == "ResourceNotFoundException", failed.response
        error = failed.response["ResponseMetadata"]["HTTPStatusCode"]
    return {
        "text": "".join(block["text"] for block in said), "finish": ends["stopReason"],
        "output": ends["usage"]["outputTokens"], "whole": whole["output"]["message"]["content"][0]["text"],
        "call": [call["name"], json.loads(call["input"])], "error": error,
    }


def embeddings() -> dict:
    import base64
    import struct

    import openai

    client = openai.OpenAI(base_url=base + "/v1", api_key="k", max_retries=0)
    # It asks for base64 by itself, and unpacks it.
    one = client.embeddings.create(model="sim", input=prompt)
    listed = client.embeddings.create(model="sim", input=prompt, encoding_format="float")
    packed = client.embeddings.create(model="sim", input=prompt, encoding_format="base64").data[0].embedding
    two = client.embeddings.create(model="sim", input=[prompt, tool_prompt], dimensions=LIMIT)
    try:
        client.embeddings.create(model="nobody", input=prompt)
        error = None
    except openai.APIStatusError as failed:
        error = failed.status_code
    unpacked = struct.unpack(f"<{len(base64.b64decode(packed)) // 4}f", base64.b64decode(packed))
    near = [abs(a - b) < 1e-6 for a, b in zip(one.data[0].embedding, listed.data[0].embedding, strict=True)]
    return {
        "dimensions": [len(item.embedding) for item in one.data + two.data], "alike": all(near),
        "packed": len(unpacked), "indices": [item.index for item in two.data],
        "tokens": [one.usage.prompt_tokens, one.usage.total_tokens], "error": error,
    }


SDKS = {"chat": chat, "responses": responses, "messages": messages, "gemini": gemini, "bedrock": bedrock,
        "embeddings": embeddings}
print(json.dumps(SDKS[sdk]()))
